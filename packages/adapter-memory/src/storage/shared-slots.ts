import { isLeaseInForce, shareSlots } from "@rangewright/domain"
import { monotonicMillis, SharedSlots } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { MemoryStore } from "./memory-store.ts"

export const sharedSlotsLayer = (store: MemoryStore): Layer.Layer<never> =>
  Layer.succeed(SharedSlots, {
    share: (queues, leaseSeconds) =>
      Effect.map(monotonicMillis, (now) =>
        shareSlots(store.slots, queues, (id) => {
          const run = store.runs.get(id)
          if (run?.record.status !== "running") return undefined
          const { generation, lease } = run
          return { generation, inForce: lease !== undefined && isLeaseInForce(lease.until, now, leaseSeconds) }
        }),
      ),
  })
