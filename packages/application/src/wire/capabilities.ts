import * as Schema from "effect/Schema"

/** What this service can do, and which of it the caller may use. */
export const Capabilities = Schema.Struct({
  /** Version of the service. */
  version: Schema.String,
  /** Version that Ludus clients check. */
  apiVersion: Schema.String,
  /** The hypervisor is the built-in simulator: nothing real happens. */
  simulator: Schema.Boolean,
  /** Whether each is configured and licensed. */
  features: Schema.Struct({
    vpn: Schema.Boolean,
    kms: Schema.Boolean,
    singleSignOn: Schema.Boolean,
    autoShutdown: Schema.Boolean,
    antiSandbox: Schema.Boolean,
    subscriptionRoles: Schema.Boolean,
  }),
  rights: Schema.Struct({
    administrator: Schema.Boolean,
    /** Groups that the user manages. */
    manages: Schema.Array(Schema.String),
    buildsTemplates: Schema.Boolean,
    /** Own roles and collections. */
    installsRoles: Schema.Boolean,
    /** The same in words, a sentence each. */
    text: Schema.Array(Schema.String),
  }),
  limits: Schema.Struct({
    /** Open consoles at once, in one process of the service. */
    consoles: Schema.Int,
    apiKeys: Schema.Int,
    apiKeyDays: Schema.Int,
    /** Builds at once in the whole service. */
    templateBuilds: Schema.Int,
  }),
}).annotate({ identifier: "Capabilities" })
