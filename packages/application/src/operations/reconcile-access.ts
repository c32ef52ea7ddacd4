import { changeText } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { AccessControl } from "../rights/access-control.ts"
import { bringInLine } from "../rights/in-line.ts"
import { refreshRouters, staleRouters } from "../rights/routers.ts"
import { whenInstallationIdle } from "../run/installation-gate.ts"
import { routerText } from "../wire/access.ts"
import { BooleanText } from "../wire/parameters.ts"
import { hypervisorAway, waitCutShort } from "../wire/statuses.ts"

/** Most seconds that the answer waits for routers. Slower ones are updated all the same. */
const waitSeconds = 60

export const reconcileAccess = operation({
  id: "reconcileAccess",
  route: "POST /access/reconcile",
  group: "Host",
  origin: "ours",
  does: "reconcile access",
  summary: "Compare accounts, groups and rights on the hypervisor, and what routers let in, with what is stored, and repair them",
  access: "admin",
  target: "none",
  query: { dryRun: Schema.optionalKey(BooleanText) },
  output: {
    type: "json",
    schema: Schema.Struct({
      dryRun: Schema.Boolean,
      /** Differences, which were repaired unless this is a dry run. */
      changes: Schema.Array(Schema.String),
      /** Routers that let in other users than they should, including those that cannot be updated now and are updated later. */
      routers: Schema.Array(Schema.String),
      /** Number of routers that are still to be updated. */
      routersLeft: Schema.Int,
      /** What cannot be brought in line, and why. */
      notes: Schema.Array(Schema.String),
    }).annotate({ identifier: "ReconciledAccess" }),
  },
  statuses: {
    200: "what differed; all of it is reconciled now, except for the routers left and what the notes say",
    400: "dryRun is neither true nor false",
    409: waitCutShort,
    502: hypervisorAway,
  },
  handle: ({ query, caller }) =>
    Effect.gen(function* () {
      const dryRun = query.dryRun === true
      const doing = "reconcile access"
      const { compare } = yield* AccessControl
      const found = yield* dryRun ? compare : whenInstallationIdle(doing, () => compare)
      const stale = yield* staleRouters
      const after = dryRun ? found : yield* bringInLine({ doing, by: caller.id, concerns: () => true })
      const told = dryRun ? [] : yield* refreshRouters(caller.id, waitSeconds)
      return {
        dryRun,
        changes: found.changes.map(changeText),
        routers: stale.map(routerText),
        routersLeft: stale.length - told.length,
        notes: after.plan.notes,
      }
    }),
})
