import { AuditTrail } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const day = 24 * 60 * 60 * 1000

/** Prunes the audit trail at start and daily after that. After a failure of the store it tries again the next day. */
export const auditRetentionLayer = (days: number) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const trail = yield* AuditTrail
      const prune = Effect.gen(function* () {
        const gone = yield* trail.prune(days)
        if (gone > 0) yield* Effect.logInfo("old entries of the audit trail were pruned", { entries: gone })
      })
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.ignoreCause(prune, { log: "Warn" }), Effect.sleep(day))))
    }),
  )
