import type { RunId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"

/** Wakes followers of a run in this process when its journal grows. Carries no data: followers read the journal. */
export interface Signals {
  readonly notify: (runId: RunId) => void
  /**
   * A latch that opens whenever the run's journal grows, for the scope's lifetime. Close it before reading; await it when there was nothing
   * to read.
   */
  readonly listen: (runId: RunId) => Effect.Effect<Latch.Latch, never, Scope.Scope>
  /** Number of runs with listeners. */
  readonly size: () => number
}

export const makeSignals = (): Signals => {
  const listeners = new Map<RunId, Set<Latch.Latch>>()
  return {
    notify: (runId) => {
      for (const latch of listeners.get(runId) ?? []) latch.openUnsafe()
    },
    listen: (runId) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const latch = Latch.makeUnsafe()
          listeners.set(runId, (listeners.get(runId) ?? new Set()).add(latch))
          return latch
        }),
        (latch) =>
          Effect.sync(() => {
            const others = listeners.get(runId)
            others?.delete(latch)
            if (others?.size === 0) listeners.delete(runId)
          }),
      ),
    size: () => listeners.size,
  }
}
