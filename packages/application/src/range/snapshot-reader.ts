import {
  Hypervisor,
  type HypervisorFault,
  type KeptSnapshots,
  Machines,
  type RangeMachine,
  type StorageFault,
} from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

type OfRange = Pick<RangeMachine, "node" | "vmid" | "rangeId">

/** Snapshots of machines, for operations. */
export class SnapshotReader extends Context.Service<
  SnapshotReader,
  {
    /** Reads the snapshots of a machine live, and keeps them. */
    readonly read: (machine: OfRange) => Effect.Effect<KeptSnapshots, HypervisorFault | StorageFault>
  }
>()("rangewright/SnapshotReader") {}

export const makeSnapshotReader = Effect.gen(function* () {
  const hypervisor = yield* Hypervisor
  const machines = yield* Machines
  return SnapshotReader.of({
    read: Effect.fnUntraced(function* ({ node, vmid, rangeId }: OfRange) {
      const readAt = new Date(yield* Clock.currentTimeMillis)
      const { snapshots, current } = yield* hypervisor.snapshots(node, vmid)
      const kept: KeptSnapshots = { readAt, snapshots, current }
      yield* machines.keepSnapshots(rangeId, vmid, kept)
      return kept
    }),
  })
})

export const snapshotReaderLayer = Layer.effect(SnapshotReader, makeSnapshotReader)
