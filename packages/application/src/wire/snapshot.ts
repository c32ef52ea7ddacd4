import { findSnapshot, readSnapshotText } from "@rangewright/domain"
import type { KeptSnapshots, RangeMachine } from "@rangewright/ports"
import * as Schema from "effect/Schema"
import { SentVmid } from "./parameters.ts"
import { hypervisorAway } from "./statuses.ts"

const name = Schema.String
/** Absent, null and empty mean all. Any other type is refused: it must never be taken for all. */
const vmids = Schema.optionalKey(Schema.NullOr(Schema.Array(SentVmid).check(Schema.isMaxLength(10_000))))

/** Which snapshot of which machines; without `vmids`, of all machines of the range. */
export const SnapshotSelectPayload = Schema.Struct({ name, vmids }).annotate({ identifier: "SnapshotSelectPayload" })

/** `atomic`: nothing is done if one machine cannot be rolled back; after a failure, the remaining machines are left alone. */
export const SnapshotRollbackPayload = Schema.Struct({
  name,
  vmids,
  atomic: Schema.optionalKey(Schema.Boolean),
}).annotate({ identifier: "SnapshotRollbackPayload" })

export const SnapshotCreatePayload = Schema.Struct({
  name,
  description: Schema.optionalKey(Schema.String),
  vmids,
  /** Includes the memory of running machines. */
  includeRAM: Schema.optionalKey(Schema.Boolean),
  /** All or none: if one fails, the others are removed again. */
  atomic: Schema.optionalKey(Schema.Boolean),
}).annotate({ identifier: "SnapshotCreatePayload" })

/** A failure for one machine. */
export const SnapshotError = Schema.Struct({
  vmid: Schema.optionalKey(Schema.Int),
  vmname: Schema.optionalKey(Schema.String),
  error: Schema.String,
}).annotate({ identifier: "ErrorInfo" })

/** The outcome for each machine. Empty lists are left out. */
export const SnapshotOutcome = Schema.Struct({
  success: Schema.optionalKey(Schema.Array(Schema.Int)),
  errors: Schema.optionalKey(Schema.Array(SnapshotError)),
  /** What failed on machines that succeeded otherwise. */
  warnings: Schema.optionalKey(
    Schema.Array(Schema.Struct({ vmid: Schema.Int, vmname: Schema.optionalKey(Schema.String), warning: Schema.String })),
  ),
  /** The run that did it; absent: there was nothing to do. */
  runID: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "SnapshotOutcome" })

/** For every operation that changes snapshots. */
export const snapshotStatuses = {
  200: "the outcome for each machine",
  400: "the body is malformed or wrongly typed",
  409: "a run is changing the range",
  502: hypervisorAway,
} as const

export const SnapshotInfo = Schema.Struct({
  name: Schema.String,
  includesRAM: Schema.Boolean,
  description: Schema.String,
  /** Seconds since 1970. */
  snaptime: Schema.optionalKey(Schema.Int),
  /** The previous snapshot: in the list, for the same machine. */
  parent: Schema.optionalKey(Schema.String),
  vmid: Schema.Int,
  vmname: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "SnapshotInfo" })

export const SnapshotList = Schema.Struct({
  snapshots: Schema.optionalKey(Schema.Array(SnapshotInfo)),
  errors: Schema.optionalKey(Schema.Array(SnapshotError)),
  /** All of them were read from the hypervisor at this time or later. */
  observedAt: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "SnapshotList" })

const SetMember = Schema.Struct({ vmid: Schema.Int, vmname: Schema.optionalKey(Schema.String) })

/** Snapshots with one name, to which machines are rolled back together. */
export const SnapshotSet = Schema.Struct({
  name: Schema.String,
  /** Every machine of the range has it, complete on each. */
  complete: Schema.Boolean,
  /** It includes the memory of at least one machine. */
  includesRAM: Schema.Boolean,
  /** When the first and the last one was taken, in seconds since 1970. */
  oldest: Schema.Int,
  newest: Schema.Int,
  machines: Schema.Array(
    Schema.Struct({
      ...SetMember.fields,
      snaptime: Schema.Int,
      includesRAM: Schema.Boolean,
      /** It is being taken or removed, or that was interrupted. */
      incomplete: Schema.optionalKey(Schema.Boolean),
    }),
  ),
  /** Machines of the range without it. */
  missing: Schema.Array(SetMember),
}).annotate({ identifier: "SnapshotSet" })

export const SnapshotSets = Schema.Struct({
  sets: Schema.Array(SnapshotSet),
  /** Machines whose snapshots are unknown: no set is complete while there are any. */
  errors: Schema.optionalKey(Schema.Array(SnapshotError)),
  observedAt: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "SnapshotSets" })

export const named = ({ vmid, name }: Pick<RangeMachine, "vmid" | "name">) => ({
  vmid,
  ...(name === undefined ? {} : { vmname: name }),
})

/**
 * The snapshots of a machine in the form that clients draw: with an entry for the machine itself, and without parents that are not among
 * them.
 */
export const snapshotInfos = (machine: RangeMachine, tree: KeptSnapshots): readonly (typeof SnapshotInfo.Type)[] => {
  const known = (parent: string | undefined) =>
    parent === undefined || findSnapshot(tree, parent) === undefined ? {} : { parent }
  return [
    ...tree.snapshots.map(({ name, memory, description, takenAt, parent }) => ({
      name,
      includesRAM: memory,
      description: readSnapshotText(description),
      snaptime: takenAt,
      ...known(parent),
      ...named(machine),
    })),
    { name: "current", includesRAM: false, description: "You are here!", ...known(tree.current), ...named(machine) },
  ]
}
