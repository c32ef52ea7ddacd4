import { pendingAccess } from "@rangewright/domain"
import { AccessRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { readDesired } from "../rights/compare.ts"
import { staleRouters } from "../rights/routers.ts"
import { routerText } from "../wire/access.ts"

export const getAccess = operation({
  id: "getAccess",
  route: "GET /access",
  group: "Host",
  origin: "ours",
  does: "read what access is pending",
  summary: "Changes of access that have not reached the hypervisor or the routers yet; asks neither",
  access: "admin",
  target: "none",
  output: {
    type: "json",
    schema: Schema.Struct({
      /** All stored grants and revocations are applied. */
      inLine: Schema.Boolean,
      /** Revoked here, but not on the hypervisor yet. */
      revocations: Schema.Array(Schema.String),
      /** Granted here, but not on the hypervisor yet. */
      grants: Schema.Array(Schema.String),
      routers: Schema.Array(Schema.String),
      /** What the last comparison with the hypervisor could not bring in line, and why. */
      notes: Schema.Array(Schema.String),
    }).annotate({ identifier: "PendingAccess" }),
  },
  statuses: { 200: "what is pending; it is retried until it is done" },
  handle: () =>
    Effect.gen(function* () {
      const records = yield* AccessRecords
      const { held } = yield* records.held
      const { revocations, others } = pendingAccess(held, yield* readDesired)
      const routers = (yield* staleRouters).map(routerText)
      const inLine = revocations.length + others.length + routers.length === 0
      return { inLine, revocations, grants: others, routers, notes: held.notes ?? [] }
    }),
})
