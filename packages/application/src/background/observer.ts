import { type ObservedCluster, observedWithin } from "@rangewright/domain"
import { Hypervisor, Machines, monotonicMillis, Ranges, type StorageFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { makeLookForMissing } from "../absence/look-for-missing.ts"
import { Settings } from "../settings.ts"
import { makeAddressKeeper } from "./guest-addresses.ts"
import { makeSystemLearner } from "./guest-systems.ts"
import { makeSnapshotRound } from "./snapshot-round.ts"

/**
 * Makes the observer's tick: stores one observation of the whole cluster for all reads, asks a few guests for their addresses, and looks
 * for machines that the list lacks.
 */
export const makeObserver = Effect.gen(function* () {
  const hypervisor = yield* Hypervisor
  const machines = yield* Machines
  const ranges = yield* Ranges
  const keepAddresses = yield* makeAddressKeeper
  const learnSystems = yield* makeSystemLearner
  const readSnapshots = yield* makeSnapshotRound
  const lookForMissing = yield* makeLookForMissing
  let away = false

  const keep = Effect.fnUntraced(function* (cluster: ObservedCluster) {
    yield* machines.replace(cluster)
    if (away) yield* Effect.logInfo("the hypervisor answers again")
    away = false
    yield* lookForMissing
    yield* keepAddresses(yield* ranges.overview({}))
    const overviews = yield* ranges.overview({})
    yield* learnSystems(overviews)
    yield* readSnapshots(overviews, cluster.nodes)
  })

  const tick: Effect.Effect<void, StorageFault> = Effect.gen(function* () {
    const began = new Date(yield* Clock.currentTimeMillis)
    const since = yield* monotonicMillis
    const seen = yield* Effect.result(hypervisor.observe)
    // what was recorded since does not count as newer any more (`isToldSince`): others may have seen, and done, a lot meanwhile
    if ((yield* monotonicMillis) - since >= observedWithin) return
    yield* Result.match(seen, {
      onSuccess: keep,
      onFailure: (fault) =>
        Effect.gen(function* () {
          if (!away) yield* Effect.logWarning(fault.message)
          away = true
          yield* machines.away(began, fault.message)
        }),
    })
  })
  return tick
})

/** Observes forever, at the interval of the settings. What fails, a store that cannot write or a defect, is retried at the next tick. */
export const observerLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const tick = yield* makeObserver
    const { observeEverySeconds } = yield* Settings
    const step = Effect.andThen(Effect.ignoreCause(tick, { log: "Warn" }), Effect.sleep(observeEverySeconds * 1000))
    yield* Effect.forkScoped(Effect.forever(step))
  }),
)
