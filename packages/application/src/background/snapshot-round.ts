import type { ObservedNode, Vmid } from "@rangewright/domain"
import { monotonicMillis, type RangeMachine, type RangeOverview, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { makeSnapshotReader } from "../range/snapshot-reader.ts"

/** Machines whose snapshots are read in one tick: each is a separate call. */
const readPerTick = 2
/** Minimum time between two reads of a machine. */
const restMillis = 300_000

/**
 * Makes the round that reads the snapshots of machines one after another, least recently read first: changes made on the hypervisor show
 * after a while, and listing them needs no call. Changes made by the service are stored at once.
 */
export const makeSnapshotRound = Effect.gen(function* () {
  const reader = yield* makeSnapshotReader
  const readAt = new Map<Vmid, number>()

  const read = Effect.fnUntraced(function* (machine: RangeMachine) {
    readAt.set(machine.vmid, yield* monotonicMillis)
    // what cannot be read keeps its last state until its next turn
    yield* reader.read(machine).pipe(Effect.catchTag("HypervisorFault", () => Effect.void))
  })

  return (overviews: readonly RangeOverview[], nodes: readonly ObservedNode[]): Effect.Effect<void, StorageFault> =>
    Effect.gen(function* () {
      const now = yield* monotonicMillis
      const offline = new Set(nodes.flatMap(({ name, online }) => (online ? [] : [name])))
      // an unanswered call takes long, and the turn of another machine
      const canBeRead = ({ template, missingSince, node, power }: RangeMachine): boolean =>
        !template && missingSince === undefined && power !== "unknown" && !offline.has(node)
      const own = overviews.flatMap(({ machines }) => machines.filter(canBeRead))
      const present = new Set(own.map(({ vmid }) => vmid))
      for (const vmid of readAt.keys()) if (!present.has(vmid)) readAt.delete(vmid)
      const last = ({ vmid }: RangeMachine): number => readAt.get(vmid) ?? Number.NEGATIVE_INFINITY
      const due = own.filter((machine) => now - last(machine) >= restMillis).toSorted((a, b) => last(a) - last(b))
      yield* Effect.forEach(due.slice(0, readPerTick), read, { concurrency: 2, discard: true })
    })
})
