import { AuditTrail } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { MemoryStore } from "./memory-store.ts"

export const auditLayer = (store: MemoryStore): Layer.Layer<AuditTrail> =>
  Layer.succeed(AuditTrail, {
    record: (entry) => Effect.sync(() => void store.audit.push(entry)),
    list: (limit) => Effect.sync(() => store.audit.toReversed().slice(0, limit)),
    prune: (before) =>
      Effect.sync(() => {
        const kept = store.audit.filter((entry) => entry.at >= before)
        return store.audit.splice(0, store.audit.length, ...kept).length - kept.length
      }),
  })
