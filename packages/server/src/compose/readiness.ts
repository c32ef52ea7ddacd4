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
import type { AppRuntime } from "./tokens.ts"

const problemOf = (cause: Cause.Cause<unknown>): string => {
  const squashed = Cause.squash(cause)
  return squashed instanceof Error ? squashed.message : "unknown"
}

const hour = 3_600_000
/** Runs whose ends are counted: more in one day are not looked at. */
const endsAtMost = 2000

/** Unfinished runs, and the ends of the last hour among runs of the last day. */
const lookAtRuns = Effect.gen(function* () {
  const journal = yield* RunJournal
  const unfinished = yield* journal.recoverable
  const now = yield* Clock.currentTimeMillis
  const recent = yield* journal.list({ since: new Date(now - 24 * hour), limit: endsAtMost })
  return {
    active: unfinished.length,
    oldestSeconds: Math.max(0, ...unfinished.map(({ startedAt }) => (now - startedAt.getTime()) / 1000)),
    endedLastHour: recent.filter(({ endedAt }) => endedAt !== undefined && endedAt.getTime() > now - hour),
  }
})

/** Reads a summary of the observed state from the store. */
const look = Effect.gen(function* () {
  const machines = yield* Machines
  const journal = yield* RunJournal
  const freshness = yield* machines.freshness
  const cluster = yield* machines.cluster
  const unfinished = yield* journal.recoverable
  const now = yield* Clock.currentTimeMillis
  const ageSeconds = freshness.observedAt === undefined ? 0 : Math.max(0, now - freshness.observedAt.getTime()) / 1000
  return { freshness, ageSeconds, machines: cluster?.machineCount ?? 0, runs: unfinished.length }
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
  const looked = () => runtime.runPromiseExit(look)
  return {
    ready: async () => {
      const writable = await runtime.runPromiseExit(storageHealth)
      if (Exit.isFailure(writable)) return { ready: false, detail: { store: problemOf(writable.cause) } }
      const changed = await runtime.runPromiseExit(keyWasChanged)
      if (Exit.isSuccess(changed) && changed.value)
        return { ready: false, detail: { store: "its key was changed: give this service the new one, and restart it" } }
      const full = folder === undefined ? undefined : fullDisk(await statfs(folder), folder)
      if (full !== undefined) return { ready: false, detail: { store: full } }
      const exit = await looked()
      if (Exit.isFailure(exit)) return { ready: false, detail: { store: problemOf(exit.cause) } }
      const { freshness, runs } = exit.value
      return {
        ready: true,
        detail: {
          store: "ok",
          hypervisor: stateOf(freshness),
          observedAt: freshness.observedAt?.toISOString() ?? null,
          runs,
        },
      }
    },
    metrics: async () => {
      metrics.consoles(await runtime.runPromise(Consoles.use(({ open }) => Effect.sync(open))))
      metrics.passwords(await runtime.runPromise(SignIns.use(({ counts }) => Effect.sync(counts))))
      const exit = await looked()
      if (Exit.isSuccess(exit)) {
        const { freshness, ageSeconds, machines } = exit.value
        metrics.observed({
          machines,
          ageSeconds,
          away: freshness.awaySince !== undefined,
        })
      }
      const runs = await runtime.runPromiseExit(lookAtRuns)
      if (Exit.isSuccess(runs)) metrics.runs(runs.value)
      return metrics.text()
    },
  }
}
