import { findSnapshot, readSnapshotText } from "@rangewright/domain"
import type { KeptSnapshots, RangeMachine } from "@rangewright/ports"
import * as Schema from "effect/Schema"
import { hypervisorAway } from "./statuses.ts"

const name = Schema.String
const vmid = Schema.Union([Schema.Int, Schema.String.check(Schema.isPattern(/^\d{1,9}$/u))])
/** Absent, null and empty mean all. A list of another type is refused: it must never be taken for all. */
const vmids = Schema.optionalKey(Schema.NullOr(Schema.Array(vmid).check(Schema.isMaxLength(10_000))))

/** Which snapshot of which machines; without `vmids`, of all machines of the range. */
export const SnapshotSelectPayload = Schema.Struct({ name, vmids }).annotate({ identifier: "SnapshotSelectPayload" })

/** `atomic`: nothing is done when one machine cannot be rolled back; when one fails, those that come after it are left alone. */
export const SnapshotRollbackPayload = Schema.Struct({
  name,
  vmids,
  atomic: Schema.optionalKey(Schema.Boolean),
}).annotate({ identifier: "SnapshotRollbackPayload" })

export const SnapshotCreatePayload = Schema.Struct({
  name,
  description: Schema.optionalKey(Schema.String),
  vmids,
  /** Keeps the memory of machines that run, too. */
  includeRAM: Schema.optionalKey(Schema.Boolean),
  /** All or none: when one cannot be taken, those that were are removed again. */
  atomic: Schema.optionalKey(Schema.Boolean),
}).annotate({ identifier: "SnapshotCreatePayload" })

/** What could not be done to one machine. */
export const SnapshotError = Schema.Struct({
  vmid: Schema.optionalKey(Schema.Int),
  vmname: Schema.optionalKey(Schema.String),
  error: Schema.String,
}).annotate({ identifier: "ErrorInfo" })

/** What became of each machine. An empty list is left out. */
export const SnapshotOutcome = Schema.Struct({
  success: Schema.optionalKey(Schema.Array(Schema.Int)),
  errors: Schema.optionalKey(Schema.Array(SnapshotError)),
  /** What could not be had of what succeeded. */
  warnings: Schema.optionalKey(
    Schema.Array(Schema.Struct({ vmid: Schema.Int, vmname: Schema.optionalKey(Schema.String), warning: Schema.String })),
  ),
  /** The run that did it; absent where there was nothing to do. */
  runID: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "SnapshotOutcome" })

/** Of every operation that changes snapshots. */
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
  /** The one before it: in the list, for the same machine. */
  parent: Schema.optionalKey(Schema.String),
  vmid: Schema.Int,
  vmname: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "SnapshotInfo" })

export const SnapshotList = Schema.Struct({
  snapshots: Schema.optionalKey(Schema.Array(SnapshotInfo)),
  errors: Schema.optionalKey(Schema.Array(SnapshotError)),
  /** All of them were read from the hypervisor then or later. */
  observedAt: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "SnapshotList" })

const SetMember = Schema.Struct({ vmid: Schema.Int, vmname: Schema.optionalKey(Schema.String) })

/** Snapshots of one name: what machines are rolled back to together. */
export const SnapshotSet = Schema.Struct({
  name: Schema.String,
  /** Every machine of the range has it, and it is whole on each. */
  complete: Schema.Boolean,
  /** It has the memory of one machine or more. */
  includesRAM: Schema.Boolean,
  /** When the first and the last one was taken, in seconds since 1970. */
  oldest: Schema.Int,
  newest: Schema.Int,
  machines: Schema.Array(
    Schema.Struct({
      ...SetMember.fields,
      snaptime: Schema.Int,
      includesRAM: Schema.Boolean,
      /** It is being taken or removed, or that broke off. */
      incomplete: Schema.optionalKey(Schema.Boolean),
    }),
  ),
  /** Machines of the range without it. */
  missing: Schema.Array(SetMember),
}).annotate({ identifier: "SnapshotSet" })

export const SnapshotSets = Schema.Struct({
  sets: Schema.Array(SnapshotSet),
  /** Machines of which nothing is known: no set is complete while there are any. */
  errors: Schema.optionalKey(Schema.Array(SnapshotError)),
  observedAt: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "SnapshotSets" })

export const named = ({ vmid, name }: Pick<RangeMachine, "vmid" | "name">) => ({
  vmid,
  ...(name === undefined ? {} : { vmname: name }),
})

/** The snapshots of a machine as clients draw them: with an entry for the machine itself, and no parent that is not among them. */
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
