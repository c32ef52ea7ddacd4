import * as Schema from "effect/Schema"

/** What the service can do here, and what of it the caller may use. */
export const Capabilities = Schema.Struct({
  /** The service's own. */
  version: Schema.String,
  /** The one that clients of the contract go by. */
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
    /** Roles and collections of the user's own. */
    installsRoles: Schema.Boolean,
    /** The same in words, a sentence each. */
    text: Schema.Array(Schema.String),
  }),
  limits: Schema.Struct({
    /** Open at once, in one process of the service. */
    consoles: Schema.Int,
    apiKeys: Schema.Int,
    apiKeyDays: Schema.Int,
    /** In the whole service at once. */
    templateBuilds: Schema.Int,
  }),
}).annotate({ identifier: "Capabilities" })
