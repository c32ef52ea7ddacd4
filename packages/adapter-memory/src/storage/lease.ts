import type { RunId } from "@rangewright/domain"
import { Lease } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { MemoryStore } from "./memory-store.ts"

export const leaseLayer = (store: MemoryStore): Layer.Layer<Lease> => {
  const running = (runId: RunId) => {
    const run = store.runs.get(runId)
    return run?.record.status === "running" ? run : undefined
  }
  const until = (now: Date, seconds: number) => now.getTime() + seconds * 1000

  return Layer.succeed(Lease, {
    claim: (runId, owner, now, seconds) =>
      Effect.sync(() => {
        const run = running(runId)
        if (run === undefined) return undefined
        if (run.lease !== undefined && run.lease.owner !== owner && run.lease.until > now.getTime()) return undefined
        const generation = run.generation + 1
        store.runs.set(runId, { ...run, generation, lease: { owner, until: until(now, seconds) } })
        return generation
      }),
    renew: (runId, generation, now, seconds) =>
      Effect.sync(() => {
        const run = running(runId)
        if (run?.lease === undefined || run.generation !== generation) return false
        store.runs.set(runId, { ...run, lease: { ...run.lease, until: until(now, seconds) } })
        return true
      }),
    release: (runId, generation) =>
      Effect.sync(() => {
        const run = running(runId)
        if (run?.generation === generation) store.runs.set(runId, { ...run, lease: undefined })
      }),
  })
}
