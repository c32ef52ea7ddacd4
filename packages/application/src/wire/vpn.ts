import * as Schema from "effect/Schema"

/** The configuration of a WireGuard client, in Ludus's envelope. */
export const WireGuardConfig = Schema.Struct({
  result: Schema.Struct({ wireGuardConfig: Schema.String }),
}).annotate({ identifier: "WireGuardConfig" })
