import { isLeaseInForce, type RunId } from "@rangewright/domain"
import { monotonicMillis, type RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { MemoryStore } from "./memory-store.ts"

type Leases = Pick<RunJournal["Service"], "claim" | "renew" | "release">

export const leasesIn = (store: MemoryStore): Leases => {
  const running = (runId: RunId) => {
    const run = store.runs.get(runId)
    return run?.record.status === "running" ? run : undefined
  }

  return {
    claim: (runId, owner, seconds) =>
      Effect.map(monotonicMillis, (now) => {
        const run = running(runId)
        if (run === undefined) return undefined
        if (run.lease !== undefined && run.lease.owner !== owner && isLeaseInForce(run.lease.until, now, seconds))
          return undefined
        const generation = run.generation + 1
        store.runs.set(runId, { ...run, generation, lease: { owner, until: now + seconds * 1000 } })
        return generation
      }),
    renew: (runId, generation, seconds) =>
      Effect.map(monotonicMillis, (now) => {
        const run = running(runId)
        if (run?.lease === undefined || run.generation !== generation) return false
        store.runs.set(runId, { ...run, lease: { ...run.lease, until: now + seconds * 1000 } })
        return true
      }),
    release: (runId, generation) =>
      Effect.sync(() => {
        const run = running(runId)
        if (run?.generation === generation) store.runs.set(runId, { ...run, lease: undefined })
      }),
  }
}
