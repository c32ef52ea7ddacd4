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
/** Guests asked for their addresses in one tick: each is a call of its own, however many guests there are. */
const askedPerTick = 8
/** Guests never asked before, as after an import: up to this many more in a tick, begun in its first `millisForNew`, for silent ones take seconds. */
const newPerTick = 200
const millisForNew = 5_000
/** A guest that tells no address of its own is asked again after 1, 2, 4 … ticks, at most this many. */
const ticksAtMost = 32
/** One that told its address is asked again after so many: it may have another one since. */
const refreshTicks = 12

/** When a guest is asked next. */
interface Turn {
  readonly at: number
  /** Ticks that it was left alone before its last turn, when it told no address of its own then. */
  readonly pause: number
}

const firstTurn: Turn = { at: 0, pause: 0.5 }

/**
 * Makes what keeps the addresses of running guests: those without an address of their own are asked first, a silent one less and less often,
 * and those that have one again and again, at once when they were off in between. What they report are claims, and judged as such.
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
    // a guest that cannot be asked is as silent as one that does not answer
    const addresses = yield* hypervisor.addresses(machine.node, machine.vmid).pipe(Effect.orElseSucceed(() => []))
    const config = addresses.length === 0 ? undefined : yield* Effect.provide(deployedConfig(range.id), context)
    const { own, foreign } = judgeAddresses(range, config)(machine, addresses)
    const pause = own === undefined ? Math.min(ticksAtMost, (turns.get(machine.vmid) ?? firstTurn).pause * 2) : firstTurn.pause
    turns.set(machine.vmid, { at: ticks + (own === undefined ? pause : refreshTicks), pause })
    // silence says nothing about the address that it had
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
      // who was off is asked at once when it is on again
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
      // not while the service starts: some of them may have been silent for months
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
