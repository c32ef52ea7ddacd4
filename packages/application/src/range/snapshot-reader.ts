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

/** The snapshots of a machine, read live. `readAt` is the time before the reading: what changes meanwhile is newer. */
export const readSnapshots = Effect.fnUntraced(function* ({ node, vmid }: Pick<OfRange, "node" | "vmid">) {
  const readAt = new Date(yield* Clock.currentTimeMillis)
  return { ...(yield* (yield* Hypervisor).snapshots(node, vmid)), readAt }
})

export const makeSnapshotReader = Effect.gen(function* () {
  const hypervisor = yield* Hypervisor
  const machines = yield* Machines
  return SnapshotReader.of({
    read: Effect.fnUntraced(function* (machine: OfRange) {
      const kept: KeptSnapshots = yield* Effect.provideService(readSnapshots(machine), Hypervisor, hypervisor)
      yield* machines.keepSnapshots(machine.rangeId, machine.vmid, kept)
      return kept
    }),
  })
})

export const snapshotReaderLayer = Layer.effect(SnapshotReader, makeSnapshotReader)
