import type { RunId } from "@rangewright/domain"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

/** Tells those who follow a run in this process that its journal has grown. It carries no data: they read the journal. */
export interface Signals {
  readonly notify: (runId: RunId) => void
  /** Take it before reading; await it when the reading found nothing: then no growth is missed. */
  readonly next: (runId: RunId) => Effect.Effect<void>
}

export const makeSignals = (): Signals => {
  const pending = new Map<RunId, Deferred.Deferred<void>>()
  return {
    notify: (runId) => {
      const deferred = pending.get(runId)
      if (deferred === undefined) return
      pending.delete(runId)
      Deferred.doneUnsafe(deferred, Effect.void)
    },
    next: (runId) => {
      const known = pending.get(runId) ?? Deferred.makeUnsafe<void>()
      pending.set(runId, known)
      return Deferred.await(known)
    },
  }
}
