import { judgeAddresses, type Range, type Vmid } from "@rangewright/domain"
import {
  Hypervisor,
  Machines,
  monotonicMillis,
  type RangeMachine,
  type RangeOverview,
  type Ranges,
  type StorageFault,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { deployedConfig } from "../range/read-config.ts"
import type { Settings } from "../settings.ts"

/** Guests asked at the same time. */
const askedAtOnce = 2
/** Guests asked for their addresses in one tick, however many there are: each is a separate call. */
const askedPerTick = 8
/**
 * Guests never asked before, as after an import: up to this many more in a tick. They are started only in its first `millisForNew`, because
 * silent guests take seconds.
 */
const newPerTick = 200
const millisForNew = 5_000
/** A guest that reports no address of its own is asked again after 1, 2, 4 … ticks, at most this many. */
const ticksAtMost = 32
/** A guest that reported its address is asked again after this many ticks: the address may have changed. */
const refreshTicks = 12

/** When a guest is asked next. */
interface Turn {
  readonly at: number
  /** The pause in ticks before its last turn, if it reported no address of its own then. */
  readonly pause: number
}

const firstTurn: Turn = { at: 0, pause: 0.5 }

/**
 * Makes the keeper of running guests' addresses. Guests without an address of their own are asked first, silent ones less and less often;
 * guests with one are asked at intervals, and at once after they were off. Reported addresses are unverified, and judged as such.
 */
export const makeAddressKeeper = Effect.gen(function* () {
  const hypervisor = yield* Hypervisor
  const machines = yield* Machines
  const context = yield* Effect.context<Ranges | Settings>()
  const turns = new Map<Vmid, Turn>()
  let ticks = 0

  const hasOwnAddress = (range: Range, machine: RangeMachine): boolean =>
    machine.address !== undefined && judgeAddresses(range, undefined)(machine, [machine.address]).own !== undefined

  const ask = Effect.fnUntraced(function* (machine: RangeMachine, range: Range) {
    // a guest that cannot be asked counts as silent
    const addresses = yield* hypervisor.addresses(machine.node, machine.vmid).pipe(Effect.orElseSucceed(() => []))
    const config = addresses.length === 0 ? undefined : yield* Effect.provide(deployedConfig(range.id), context)
    const { own, foreign } = judgeAddresses(range, config)(machine, addresses)
    const pause = own === undefined ? Math.min(ticksAtMost, (turns.get(machine.vmid) ?? firstTurn).pause * 2) : firstTurn.pause
    turns.set(machine.vmid, { at: ticks + (own === undefined ? pause : refreshTicks), pause })
    // silence does not invalidate the address that it had
    if (addresses.length === 0) return
    if (own === machine.address && foreign.join() === (machine.foreignAddresses ?? []).join()) return
    yield* machines.reported(machine.vmid, { address: own, foreignAddresses: foreign })
  })

  return (overviews: readonly RangeOverview[]): Effect.Effect<void, StorageFault> =>
    Effect.suspend(() => {
      ticks += 1
      const running = overviews.flatMap(({ range, machines: own }) =>
        own.filter(({ power }) => power === "running").map((machine) => ({ machine, range })),
      )
      const present = new Set(running.map(({ machine }) => machine.vmid))
      // a guest that was off is asked at once when it is on again
      for (const vmid of turns.keys()) if (!present.has(vmid)) turns.delete(vmid)
      const due = running
        .map(({ machine, range }) => {
          const turn = turns.get(machine.vmid) ?? firstTurn
          return { machine, range, turn, lacks: !hasOwnAddress(range, machine) }
        })
        .filter(({ turn }) => turn.at <= ticks)
        .toSorted((a, b) => Number(b.lacks) - Number(a.lacks) || (a.lacks ? a.turn.pause - b.turn.pause : a.turn.at - b.turn.at))
      const askOne = ({ machine, range }: (typeof due)[number]) =>
        Effect.catchTag(ask(machine, range), "Failed", (fault) =>
          Effect.logWarning(`the addresses of ${machine.name ?? machine.vmid} could not be stored: ${fault.message}`),
        )
      const isNew = ({ machine, lacks }: (typeof due)[number]): boolean => lacks && !turns.has(machine.vmid)
      // not in the first tick: some of them may have been silent for months
      const further = ticks === 1 ? [] : due.slice(askedPerTick).filter(isNew).slice(0, newPerTick)
      return Effect.flatMap(monotonicMillis, (began) =>
        Effect.andThen(
          Effect.forEach(due.slice(0, askedPerTick), askOne, { concurrency: askedAtOnce, discard: true }),
          Effect.forEach(
            further,
            (one) => Effect.flatMap(monotonicMillis, (now) => (now - began < millisForNew ? askOne(one) : Effect.void)),
            { concurrency: askedAtOnce, discard: true },
          ),
        ),
      )
    })
})
