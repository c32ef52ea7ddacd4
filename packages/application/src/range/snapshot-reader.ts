import { rolledBackTo } from "@rangewright/domain"
import {
  AccessRecords,
  Hypervisor,
  type HypervisorFault,
  isReadBefore,
  type KeptSnapshots,
  Machines,
  type RangeMachine,
  type StorageFault,
} from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { noteTold } from "./note-told.ts"

type OfRange = Pick<RangeMachine, "node" | "vmid" | "rangeId" | "isRouter">

/** Snapshots of machines, for operations. */
export class SnapshotReader extends Context.Service<
  SnapshotReader,
  {
    /**
     * Reads the snapshots of a machine live, and stores them. If somebody rolled it back on the hypervisor, its stages become those of the
     * snapshot.
     */
    readonly read: (machine: OfRange) => Effect.Effect<KeptSnapshots, HypervisorFault | StorageFault>
  }
>()("rangewright/SnapshotReader") {}

/** The snapshots of a machine, read live. `readAt` is the time before the read: later changes are newer. */
export const readSnapshots = Effect.fnUntraced(function* ({ node, vmid }: Pick<OfRange, "node" | "vmid">) {
  const hypervisor = yield* Hypervisor
  const readAt = new Date(yield* Clock.currentTimeMillis)
  return { ...(yield* hypervisor.snapshots(node, vmid)), readAt }
})

export const makeSnapshotReader = Effect.gen(function* () {
  const hypervisor = yield* Hypervisor
  const machines = yield* Machines
  const access = yield* AccessRecords
  return SnapshotReader.of({
    read: Effect.fnUntraced(function* (machine: OfRange) {
      const { rangeId, vmid, isRouter } = machine
      const before = (yield* machines.snapshots(rangeId)).get(vmid)
      const kept: KeptSnapshots = yield* Effect.provideService(readSnapshots(machine), Hypervisor, hypervisor)
      yield* machines.keepSnapshots(rangeId, vmid, kept)
      const rolledBack = before === undefined ? undefined : rolledBackTo(before, kept)
      if (rolledBack === undefined || isReadBefore(kept.readAt, before?.readAt)) return kept
      yield* machines.recallStages(rangeId, vmid, rolledBack)
      if (isRouter) yield* Effect.provideService(noteTold(rangeId, []), AccessRecords, access)
      return kept
    }),
  })
})

export const snapshotReaderLayer = Layer.effect(SnapshotReader, makeSnapshotReader)
