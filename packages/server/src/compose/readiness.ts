import type { Probes } from "@rangewright/adapter-http"
import { sealingKey, storageHealth } from "@rangewright/adapter-storage"
import { Consoles, SignIns } from "@rangewright/application"
import { sealingKeyOf } from "@rangewright/domain"
import { type Freshness, Machines, RunJournal, SecretStore } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Cause from "effect/Cause"
import type { Metrics } from "../observe/metrics.ts"
import { statfs } from "node:fs/promises"
import { fullDisk } from "./full-disk.ts"
import { sharedFor } from "./shared-for.ts"
import type { AppRuntime } from "./tokens.ts"

const problemOf = (cause: Cause.Cause<unknown>): string => {
  const squashed = Cause.squash(cause)
  return squashed instanceof Error ? squashed.message : "unknown"
}

const hour = 3_600_000
/** Anyone may ask for the metrics and whether the service is ready, so the store is not asked for them more often than this. */
const measuredEvery = 2000
const readyEvery = 1000

/** Reads a summary of the observed state from the store. */
const look = Effect.gen(function* () {
  const machines = yield* Machines
  const journal = yield* RunJournal
  const freshness = yield* machines.freshness
  const cluster = yield* machines.cluster
  const unfinished = yield* journal.recoverable
  const now = yield* Clock.currentTimeMillis
  const ageSeconds = freshness.observedAt === undefined ? 0 : Math.max(0, now - freshness.observedAt.getTime()) / 1000
  return { freshness, ageSeconds, machines: cluster?.machineCount ?? 0, unfinished }
})

/** The same, and the runs: the unfinished ones, and the ends of the last hour. */
const measure = Effect.gen(function* () {
  const seen = yield* look
  const journal = yield* RunJournal
  const now = yield* Clock.currentTimeMillis
  return {
    ...seen,
    oldestSeconds: Math.max(0, ...seen.unfinished.map(({ startedAt }) => (now - startedAt.getTime()) / 1000)),
    endedLastHour: yield* journal.endedAfter(new Date(now - hour)),
  }
})

/** Another instance, or a command, has changed the key since this service started. */
const keyWasChanged = Effect.gen(function* () {
  const secrets = yield* SecretStore
  const ours = sealingKeyOf(secrets.seal("", "which key is it?"))
  return (yield* sealingKey)?.keyId !== ours
})

const stateOf = ({ awaySince, awayReason, doubt }: Freshness): string => {
  if (awaySince !== undefined) return `unreachable since ${awaySince.toISOString()}: ${awayReason ?? ""}`
  return doubt === undefined ? "ok" : `not trusted since ${doubt.since.toISOString()}: ${doubt.reason}`
}

/**
 * Ready means that requests can be served: the store accepts reads and writes, and the disk of its `folder` (undefined for a database
 * server) has space. An unreachable hypervisor, or one whose lists are not trusted, does not make the service unready, because reads still
 * work; both are reported in the detail, the first in the metrics too.
 */
export const readiness = (runtime: AppRuntime, metrics: Metrics, folder: string | undefined): Probes => {
  const measured = sharedFor(measuredEvery, () => runtime.runPromiseExit(measure))
  const ready = sharedFor(readyEvery, async () => {
    const writable = await runtime.runPromiseExit(storageHealth)
    if (Exit.isFailure(writable)) return { ready: false, detail: { store: problemOf(writable.cause) } }
    const changed = await runtime.runPromiseExit(keyWasChanged)
    if (Exit.isSuccess(changed) && changed.value)
      return { ready: false, detail: { store: "its key was changed: give this service the new one, and restart it" } }
    const full = folder === undefined ? undefined : fullDisk(await statfs(folder), folder)
    if (full !== undefined) return { ready: false, detail: { store: full } }
    const exit = await runtime.runPromiseExit(look)
    if (Exit.isFailure(exit)) return { ready: false, detail: { store: problemOf(exit.cause) } }
    const { freshness, unfinished } = exit.value
    return {
      ready: true,
      detail: {
        store: "ok",
        hypervisor: stateOf(freshness),
        observedAt: freshness.observedAt?.toISOString() ?? null,
        runs: unfinished.length,
      },
    }
  })
  return {
    ready,
    metrics: async () => {
      metrics.consoles(await runtime.runPromise(Consoles.use(({ open }) => Effect.sync(open))))
      metrics.passwords(await runtime.runPromise(SignIns.use(({ counts }) => Effect.sync(counts))))
      const exit = await measured()
      if (Exit.isSuccess(exit)) {
        const { freshness, ageSeconds, machines, unfinished, oldestSeconds, endedLastHour } = exit.value
        metrics.observed({
          machines,
          ageSeconds,
          away: freshness.awaySince !== undefined,
        })
        metrics.runs({ active: unfinished.length, oldestSeconds, endedLastHour })
      }
      return metrics.text()
    },
  }
}
