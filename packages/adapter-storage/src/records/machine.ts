import { type Activation, isRouter, MachineSettingsJson, type ObservedMachine, powerStates } from "@rangewright/domain"
import type { Freshness, MissingMachine, RangeMachine } from "@rangewright/ports"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import {
  count,
  declared,
  flag,
  json,
  key,
  named,
  oneOf,
  optional,
  real,
  short,
  text,
  texts,
  time,
  unique,
  whole,
} from "../schema/column.ts"
import { rangeId, vmid } from "../schema/ids.ts"
import { type StoredRow, table } from "../schema/table.ts"
import { ofRange } from "./range.ts"

const stamp = Schema.Finite.pipe(
  Schema.decodeTo(Schema.Date, {
    decode: SchemaGetter.transform((millis: number) => new Date(millis)),
    encode: SchemaGetter.transform((at: Date) => at.getTime()),
  }),
)

const ActivationJson = Schema.Union([
  Schema.Struct({ state: Schema.Literal("activated"), at: stamp, until: Schema.optional(stamp) }),
  Schema.Struct({ state: Schema.Literal("not-activated"), at: stamp, because: Schema.String }),
])

/** All VMs of the cluster; those whose pool is a range's id belong to that range. */
export const machines = table("machines", {
  vmid: key(vmid),
  node: text,
  name: optional(text),
  power: oneOf(powerStates),
  template: flag,
  pool: optional(declared(text, { index: "machines_pool_index" })),
  cpus: real,
  memoryMiB: named("memory_mib", real),
  tags: texts,
  address: optional(text),
  foreignAddresses: declared(texts, { default: "[]" }),
  /** When the service recorded it itself; 1970 when it comes from an observation. */
  recordedAt: time,
  /** Time of the first observation without it. */
  missingSince: optional(time),
  /** The licence of its Windows when last checked. */
  activation: optional(json(ActivationJson)),
})

const ofGuests = ["address", "foreignAddresses", "recordedAt", "missingSince", "activation"] as const
export const toMachine: (row: StoredRow) => ObservedMachine = machines.reader({ without: ofGuests })
const guestOf = machines.reader({ only: ["address", "foreignAddresses", "missingSince", "activation"] })

export const toMissingMachine = (row: StoredRow): MissingMachine => ({
  ...toMachine(row),
  since: time.read(row["missing_since"]),
})

/** The machine as a VM of the range whose pool it is in. */
export const toRangeMachine = (row: StoredRow): RangeMachine => {
  const machine = toMachine(row)
  const { address, foreignAddresses, missingSince, activation } = guestOf(row)
  const range = rangeId.read(machine.pool)
  return {
    ...machine,
    rangeId: range,
    address,
    ...(foreignAddresses.length === 0 ? {} : { foreignAddresses }),
    ...(missingSince === undefined ? {} : { missingSince }),
    ...(activation === undefined ? {} : { activation: activation as Activation }),
    isRouter: isRouter(machine, range),
  }
}

/** Deleted VMIDs, hidden until an observation that began later. */
export const departedMachines = table("departed_machines", { vmid: key(vmid), at: time })

const ClusterJson = Schema.Struct({
  nodes: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      online: Schema.Boolean,
      cpus: Schema.Finite,
      cpuLoad: Schema.Finite,
      memoryMiB: Schema.Finite,
      memoryUsedMiB: Schema.Finite,
    }),
  ),
  storages: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      node: Schema.String,
      type: Schema.String,
      shared: Schema.Boolean,
      active: Schema.Boolean,
      totalBytes: Schema.Finite,
      usedBytes: Schema.Finite,
      content: Schema.Array(Schema.String),
    }),
  ),
})

/** One row: the last complete observation without its machines, and since when the hypervisor is unreachable. */
export const observation = table("observation", {
  id: key(declared(whole, { autoincrement: false })),
  observedAt: optional(time),
  cluster: optional(json(ClusterJson)),
  awaySince: optional(time),
  awayReason: optional(text),
  doubtSince: optional(time),
  doubtReason: optional(text),
})

const readFreshness = observation.reader({ without: ["id", "cluster"] })

export const toFreshness = (row: StoredRow): Freshness => {
  const { doubtSince: since, doubtReason: reason = "", ...freshness } = readFreshness(row)
  return { ...freshness, ...(since === undefined ? {} : { doubt: { since, reason } }) }
}

export const vmidReservations = table("vmid_reservations", {
  rangeId: ofRange,
  machine: key(short(1024)),
  vmid: unique("vmid_reservations_vmid_unique", vmid),
})

export const machineStages = table("machine_stages", {
  rangeId: ofRange,
  vmid: key(vmid),
  stepKey: key(short(1024)),
  fingerprint: text,
})

/** Sealed passwords of machines' logins; `sealedNext` is about to be set. */
export const machineLogins = table("machine_logins", {
  rangeId: ofRange,
  vmid: key(vmid),
  sealed: optional(text),
  sealedNext: optional(text),
})

const SnapshotJson = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  takenAt: Schema.Finite,
  memory: Schema.Boolean,
  parent: Schema.optional(Schema.String),
  incomplete: Schema.Boolean,
})

/** Snapshots of machines as they were last read. */
export const machineSnapshots = table("machine_snapshots", {
  rangeId: ofRange,
  vmid: key(vmid),
  readAt: time,
  snapshots: json(Schema.Array(SnapshotJson)),
  current: optional(text),
})

/** Stages inside a machine that had succeeded when a snapshot was taken. */
export const snapshotStages = table("snapshot_stages", {
  rangeId: ofRange,
  vmid: key(vmid),
  snapshot: key(short(64)),
  takenAt: key(declared(count, { autoincrement: false })),
  stepKey: key(short(1024)),
  fingerprint: text,
})

/** Settings that are still owed to machines that were rolled back. */
export const machineDebts = table("machine_debts", {
  rangeId: ofRange,
  vmid: key(vmid),
  settings: json(MachineSettingsJson),
  generation: optional(text),
})

const said = Schema.optionalKey(Schema.String)
const GuestSystemJson = Schema.Struct({ id: said, name: said, versionId: said, kernel: said, machine: said })

/** Operating systems as reported by guest agents. */
export const machineSystems = table("machine_systems", { rangeId: ofRange, vmid: key(vmid), system: json(GuestSystemJson) })
