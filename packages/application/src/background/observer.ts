import { judgeAddresses, type ObservedCluster, type Range, type Vmid } from "@rangewright/domain"
import { Hypervisor, Machines, type RangeMachine, Ranges, type StorageFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLookForMissing } from "../absence/look-for-missing.ts"
import { deployedConfig } from "../range/read-config.ts"
import { Settings } from "../settings.ts"
import { makeSystemLearner } from "./guest-systems.ts"

/** Guests asked for their address in one tick: each is a call of its own. */
const askedPerTick = 8
/** A guest that does not answer is asked again after 1, 2, 4 … ticks, at most this many. */
const ticksAtMost = 32

/** Where a guest without an address stands. */
interface Silence {
  readonly askAgainAt: number
  readonly ticks: number
}

/**
 * Makes the observer's tick: one look at the whole cluster, kept for all reads, a few guests asked for their addresses, and machines that the
 * list lacks looked for.
 */
export const makeObserver = Effect.gen(function* () {
  const hypervisor = yield* Hypervisor
  const machines = yield* Machines
  const ranges = yield* Ranges
  const context = yield* Effect.context<Ranges | Settings>()
  const learnSystems = yield* makeSystemLearner
  const lookForMissing = yield* makeLookForMissing
  const silent = new Map<Vmid, Silence>()
  let ticks = 0
  let away = false

  const hasOwnAddress = (range: Range, machine: RangeMachine): boolean =>
    machine.address !== undefined && judgeAddresses(range, undefined)(machine, [machine.address]).own !== undefined

  const ask = Effect.fnUntraced(function* (machine: RangeMachine, range: Range) {
    // a guest that cannot be asked is as silent as one that does not answer
    const addresses = yield* hypervisor.addresses(machine.node, machine.vmid).pipe(Effect.orElseSucceed(() => []))
    const config = addresses.length === 0 ? undefined : yield* Effect.provide(deployedConfig(range.id), context)
    const { own, foreign } = judgeAddresses(range, config)(machine, addresses)
    if (own === undefined) {
      const pause = Math.min(ticksAtMost, (silent.get(machine.vmid)?.ticks ?? 0.5) * 2)
      silent.set(machine.vmid, { askAgainAt: ticks + pause, ticks: pause })
    } else silent.delete(machine.vmid)
    if (own === undefined && foreign.join() === (machine.foreignAddresses ?? []).join()) return
    const { rangeId: _rangeId, isRouter: _isRouter, ...seen } = machine
    yield* machines.record({ ...seen, address: own, foreignAddresses: foreign })
  })

  const askSilent = Effect.gen(function* () {
    const wanting = (yield* ranges.overview({})).flatMap(({ range, machines: own }) =>
      own
        .filter((machine) => machine.power === "running" && !hasOwnAddress(range, machine))
        .map((machine) => ({ machine, range })),
    )
    const known = new Set(wanting.map(({ machine }) => machine.vmid))
    for (const vmid of silent.keys()) if (!known.has(vmid)) silent.delete(vmid)
    const due = wanting
      .filter(({ machine }) => (silent.get(machine.vmid)?.askAgainAt ?? 0) <= ticks)
      .toSorted((a, b) => (silent.get(a.machine.vmid)?.ticks ?? 0) - (silent.get(b.machine.vmid)?.ticks ?? 0))
    yield* Effect.forEach(
      due.slice(0, askedPerTick),
      ({ machine, range }) =>
        Effect.catchTag(ask(machine, range), "Failed", (fault) =>
          Effect.logWarning(`the addresses of ${machine.name ?? machine.vmid} are not kept: ${fault.message}`),
        ),
      { concurrency: 2, discard: true },
    )
  })

  const keep = Effect.fnUntraced(function* (cluster: ObservedCluster) {
    yield* machines.replace(cluster)
    if (away) yield* Effect.logInfo("the hypervisor answers again")
    away = false
    yield* lookForMissing
    yield* askSilent
    yield* learnSystems(yield* ranges.overview({}))
  })

  const tick: Effect.Effect<void, StorageFault> = Effect.gen(function* () {
    ticks += 1
    const began = new Date(yield* Clock.currentTimeMillis)
    yield* Effect.matchEffect(hypervisor.observe, {
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

/** Observes for ever, at the interval of the settings. A store that cannot write is tried again at the next tick. */
export const observerLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const tick = yield* makeObserver
    const { observeEverySeconds } = yield* Settings
    const step = Effect.andThen(Effect.ignore(tick, { log: "Warn" }), Effect.sleep(observeEverySeconds * 1000))
    yield* Effect.forkScoped(Effect.forever(step))
  }),
)
