import { pendingVpn } from "@rangewright/domain"
import { VpnRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { Settings } from "../settings.ts"

export const getVpnStatus = operation({
  id: "getVPNStatus",
  route: "GET /vpn",
  group: "Host",
  origin: "ours",
  does: "read the status of the VPN",
  summary: "Whether the VPN's server lets in the right users, and what has not reached it yet; reads only the store",
  access: "admin",
  target: "none",
  output: {
    type: "json",
    schema: Schema.Struct({
      /** Users can download client configurations. */
      enabled: Schema.Boolean,
      endpoint: Schema.optionalKey(Schema.String),
      /** The server has everything that is stored, and nothing else of the service's. */
      inLine: Schema.Boolean,
      /** Revoked here, but not on the server yet. */
      revocations: Schema.Array(Schema.String),
      /** Granted here, but not on the server yet. */
      grants: Schema.Array(Schema.String),
      /** Why the server could not be brought in line the last time. */
      trouble: Schema.optionalKey(Schema.String),
      notes: Schema.Array(Schema.String),
    }).annotate({ identifier: "VPNStatus" }),
  },
  statuses: { 200: "the status; what is pending is retried until it is done" },
  handle: () =>
    Effect.gen(function* () {
      const { vpn } = yield* Settings
      const records = yield* VpnRecords
      const { held } = yield* records.held
      const pending = pendingVpn(held, vpn === undefined ? [] : yield* records.members)
      const keyless = vpn === undefined ? [] : yield* records.keyless
      const { revocations } = pending
      const grants = [...keyless.map((user) => `a key of ${user}`), ...pending.grants]
      return {
        enabled: vpn !== undefined,
        ...(vpn === undefined ? {} : { endpoint: `${vpn.host} port ${vpn.port}` }),
        inLine: revocations.length + grants.length === 0 && held.trouble === undefined,
        revocations,
        grants,
        ...(held.trouble === undefined ? {} : { trouble: held.trouble }),
        notes: [...held.notes, ...(held.taken ?? []).map(({ at, what }) => `${new Date(at).toISOString()}: ${what}`)],
      }
    }),
})
