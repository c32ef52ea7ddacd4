import type { Vmid } from "@rangewright/domain"
import { Hypervisor, Machines, type RangeMachine, type RangeOverview, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** Guests asked in one tick: each is a separate call. */
const askedPerTick = 4
/** A guest without a useful answer is asked again after 1, 2, 4 … ticks, at most this many. */
const ticksAtMost = 256

/**
 * Makes the learner of running guests' operating systems. Each guest is asked once, and again after it was off; one without a useful answer
 * less and less often. Answers are stored, so that reads need not ask.
 */
export const makeSystemLearner = Effect.gen(function* () {
  const hypervisor = yield* Hypervisor
  const machines = yield* Machines
  const learnt = new Set<Vmid>()
  const silent = new Map<Vmid, { readonly askAgainAt: number; readonly pause: number }>()
  let ticks = 0

  const ask = Effect.fnUntraced(function* ({ rangeId, node, vmid }: RangeMachine) {
    // a guest that cannot be asked counts as silent
    const system = yield* hypervisor.system(node, vmid).pipe(Effect.orElseSucceed(() => undefined))
    if (system === undefined) {
      const pause = Math.min(ticksAtMost, (silent.get(vmid)?.pause ?? 0.5) * 2)
      silent.set(vmid, { askAgainAt: ticks + pause, pause })
      return
    }
    yield* machines.keepSystem(rangeId, vmid, system)
    silent.delete(vmid)
    learnt.add(vmid)
  })

  return (overviews: readonly RangeOverview[]): Effect.Effect<void, StorageFault> =>
    Effect.suspend(() => {
      ticks += 1
      const running = overviews.flatMap(({ machines: own }) =>
        own.filter(({ power, template, address }) => power === "running" && !template && address !== undefined),
      )
      const present = new Set(running.map(({ vmid }) => vmid))
      for (const vmid of learnt) if (!present.has(vmid)) learnt.delete(vmid)
      for (const vmid of silent.keys()) if (!present.has(vmid)) silent.delete(vmid)
      const due = running
        .filter(({ vmid }) => !learnt.has(vmid) && (silent.get(vmid)?.askAgainAt ?? 0) <= ticks)
        .toSorted((a, b) => (silent.get(a.vmid)?.pause ?? 0) - (silent.get(b.vmid)?.pause ?? 0))
      return Effect.forEach(due.slice(0, askedPerTick), ask, { concurrency: 2, discard: true })
    })
})
