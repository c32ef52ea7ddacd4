import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { kmsServerMachine } from "../kms/server-machine.ts"
import { operation } from "../operation/operation.ts"
import { Settings } from "../settings.ts"

/** `host` is ours. */
const KmsStatus = Schema.Struct({
  /** A KMS host is configured; only machines can tell whether it answers. */
  enabled: Schema.Boolean,
  /** The machine on which the service sets up a KMS host. */
  vmID: Schema.optionalKey(Schema.Int),
  /** The host that machines are pointed to; absent: that machine. */
  host: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "KmsStatus" })

export const kmsStatus = operation({
  id: "kmsStatus",
  route: "GET /kms/status",
  group: "KMS",
  origin: "page",
  does: "read which KMS host is used",
  summary: "Which KMS host machines are pointed to",
  access: "user",
  target: "none",
  output: { type: "json", schema: KmsStatus },
  statuses: {
    200: "what is configured; the licence of each machine is in GET /range?details=true",
    409: "the configured machine does not exist, or its range does not belong to an administrator",
  },
  handle: () =>
    Effect.gen(function* () {
      const { kms } = yield* Settings
      const server = kms?.server
      const found = server === undefined ? undefined : yield* kmsServerMachine(server, "read which KMS host is used")
      return {
        enabled: kms !== undefined,
        ...(found === undefined ? {} : { vmID: found.machine.vmid }),
        ...(kms?.host === undefined ? {} : { host: `${kms.host.host}:${kms.host.port}` }),
      }
    }),
})
