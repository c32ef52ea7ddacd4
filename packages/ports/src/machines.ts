import type {
  Activation,
  GuestSystem,
  MachineSettings,
  MachineSnapshot,
  ObservedCluster,
  ObservedMachine,
  RangeId,
  SnapshotTree,
  Vmid,
} from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Exhausted, RangeNotFound } from "@rangewright/domain"
import type { StorageFault } from "./faults.ts"
import type { RangeMachine } from "./ranges.ts"

/** How fresh the stored state is. */
export interface Freshness {
  /** Time of the last complete observation; undefined before the first. */
  readonly observedAt: Date | undefined
  /** Since when the hypervisor has not answered; undefined while it does. */
  readonly awaySince: Date | undefined
  readonly awayReason: string | undefined
  /** Why, and since when, the hypervisor's lists are not trusted; undefined while they are. */
  readonly doubt?: { readonly since: Date; readonly reason: string } | undefined
}

/** An observation without its machines. */
export interface KeptCluster extends Omit<ObservedCluster, "machines"> {
  readonly machineCount: number
}

/** A VM with the addresses its guest reported. */
export interface MachineSighting extends ObservedMachine {
  readonly address?: string | undefined
  /** Reported addresses that are not the machine's own. */
  readonly foreignAddresses?: readonly string[] | undefined
}

/** A machine that is missing from the hypervisor's list. */
export interface MissingMachine extends ObservedMachine {
  /** Time of the first observation without it. */
  readonly since: Date
}

/** Sealed passwords of one machine's login. Without `current`, the machine has its template's password. */
export interface KeptLogin {
  readonly current?: string | undefined
  /** A password about to be set. After a stage was cut short, it is unknown whether the machine has it. */
  readonly pending?: string | undefined
}

/**
 * Settings that a VM must be given again after a rollback. They are owed as long as the VM's generation differs from `generation`; if it is
 * undefined, until they are paid.
 */
export interface OwedSettings {
  readonly settings: MachineSettings
  readonly generation: string | undefined
}

/** The snapshots of a VM as last read. */
export interface KeptSnapshots extends SnapshotTree {
  readonly readAt: Date
}

/**
 * Whether the stored state was read later than `readAt`. A difference of more than ten minutes does not count: the clock was set back in
 * between.
 */
export const isReadBefore = (readAt: Date, kept: Date | undefined): boolean => {
  const later = (kept?.getTime() ?? 0) - readAt.getTime()
  return later > 0 && later <= 600_000
}

/** Identifies a snapshot: one that was recreated under the same name is a different one. */
export type SnapshotRef = Pick<MachineSnapshot, "name" | "takenAt">

/** The stored state of the hypervisor, so that API reads never call the hypervisor, and the reserved VMIDs. */
export class Machines extends Context.Service<
  Machines,
  {
    /**
     * Atomically replaces the stored state with a complete observation, and ends `away`. A machine belongs to the range whose pool it is
     * in. Known addresses are kept, as is the name of a machine observed without one. Changes from `record` and `forget` after the
     * observation's time win over it, unless they are more than ten minutes newer: no observation takes that long, so the clock was set
     * back in between. A machine that the list lacks may still exist: if it belongs to a range or has stages, it is kept as it was and
     * counts as `missing` from now on.
     */
    readonly replace: (cluster: ObservedCluster) => Effect.Effect<void, StorageFault>
    /** Machines kept although the last observation lacks them, ascending by VMID. */
    readonly missing: Effect.Effect<readonly MissingMachine[], StorageFault>
    /**
     * Marks the hypervisor's lists as not trusted for this reason, or as trusted again (undefined). While they are not trusted, the first
     * `at` is kept.
     */
    readonly doubt: (at: Date, reason: string | undefined) => Effect.Effect<void, StorageFault>
    /** The cluster itself as of the last complete observation. The cost does not depend on the number of machines. */
    readonly cluster: Effect.Effect<KeptCluster | undefined, StorageFault>
    /** The templates in the last observation, ascending by VMID. */
    readonly templates: Effect.Effect<readonly ObservedMachine[], StorageFault>
    /** Records a change to one VM that the service made, so that it shows at once. An undefined name or address keeps the stored one. */
    readonly record: (machine: MachineSighting) => Effect.Effect<void, StorageFault>
    /** Records the addresses a guest reports now, and nothing else. Without `address` it has none. Does nothing for an unknown VM. */
    readonly reported: (
      vmid: Vmid,
      claims: { readonly address: string | undefined; readonly foreignAddresses: readonly string[] },
    ) => Effect.Effect<void, StorageFault>
    /** The VM is certainly gone: also forgets the stages done inside it. */
    readonly forget: (vmid: Vmid) => Effect.Effect<void, StorageFault>
    /** Without templates, ascending by VMID. */
    readonly ofRange: (rangeId: RangeId) => Effect.Effect<readonly RangeMachine[], StorageFault>
    /** Undefined also for a VM outside every range's pool, and for a template. */
    readonly find: (vmid: Vmid) => Effect.Effect<RangeMachine | undefined, StorageFault>
    /** The hypervisor does not answer. While it is unreachable, the first `since` is kept. */
    readonly away: (since: Date, reason: string) => Effect.Effect<void, StorageFault>
    readonly freshness: Effect.Effect<Freshness, StorageFault>
    /**
     * Reserves one VMID for each of these machines of a range; none is in `taken` or already reserved. A machine with a reservation keeps
     * it. All or nothing.
     */
    readonly reserve: (
      rangeId: RangeId,
      machines: readonly string[],
      taken: ReadonlySet<number>,
      span: { readonly from: number; readonly to: number },
    ) => Effect.Effect<ReadonlyMap<string, Vmid>, Exhausted | RangeNotFound | StorageFault>
    /** Reserves another VMID for a machine because somebody else took the reserved one. */
    readonly replaceReservation: (
      rangeId: RangeId,
      machine: string,
      taken: ReadonlySet<number>,
      span: { readonly from: number; readonly to: number },
    ) => Effect.Effect<Vmid, Exhausted | RangeNotFound | StorageFault>
    readonly release: (rangeId: RangeId, machines: readonly string[]) => Effect.Effect<void, StorageFault>
    readonly reservations: (rangeId: RangeId) => Effect.Effect<ReadonlyMap<string, Vmid>, StorageFault>
    /** Completed stages inside machines: step key -> fingerprint of its input, by VMID. Forgotten with the VM. */
    readonly stages: (rangeId: RangeId) => Effect.Effect<ReadonlyMap<Vmid, ReadonlyMap<string, string>>, StorageFault>
    /** The operating systems as reported by the guests, by VMID. Forgotten with the VM when the service removes it. */
    readonly systems: (rangeId: RangeId) => Effect.Effect<ReadonlyMap<Vmid, GuestSystem>, StorageFault>
    /** Replaces the stored system of one VM; storing the same again changes nothing. Does nothing if the range is gone. */
    readonly keepSystem: (rangeId: RangeId, vmid: Vmid, system: GuestSystem) => Effect.Effect<void, StorageFault>
    /** The sealed passwords that machine logins were given, by VMID. Forgotten with the VM when the service removes it. */
    readonly logins: (rangeId: RangeId) => Effect.Effect<ReadonlyMap<Vmid, KeptLogin>, StorageFault>
    /** Replaces the stored login of a machine; an empty one means the template's. Does nothing if the range is gone. */
    readonly keepLogin: (rangeId: RangeId, vmid: Vmid, login: KeptLogin) => Effect.Effect<void, StorageFault>
    /**
     * Replaces the stored Windows license state of a machine; undefined if unknown. Does nothing if the range has no such VM. Forgotten
     * with the VM.
     */
    readonly keepActivation: (
      rangeId: RangeId,
      vmid: Vmid,
      activation: Activation | undefined,
    ) => Effect.Effect<void, StorageFault>
    /** The settings owed to machines after a rollback, by VMID. Forgotten with the VM. */
    readonly owed: (rangeId: RangeId) => Effect.Effect<ReadonlyMap<Vmid, OwedSettings>, StorageFault>
    /** Replaces the settings owed to one VM; undefined once they are paid. Does nothing if the range is gone. */
    readonly owe: (rangeId: RangeId, vmid: Vmid, owed: OwedSettings | undefined) => Effect.Effect<void, StorageFault>
    /** The snapshots of machines as last read, by VMID. Forgotten with the VM. */
    readonly snapshots: (rangeId: RangeId) => Effect.Effect<ReadonlyMap<Vmid, KeptSnapshots>, StorageFault>
    /**
     * Replaces the stored snapshots of one VM, unless those were read later, by up to ten minutes: a slow reader must not overwrite newer
     * state. Also forgets the stages kept with snapshots that no longer exist. Does nothing if the range is gone.
     */
    readonly keepSnapshots: (rangeId: RangeId, vmid: Vmid, snapshots: KeptSnapshots) => Effect.Effect<void, StorageFault>
    /** Stores with a snapshot the stages that had succeeded when it was taken: the ones recorded now. */
    readonly keepStages: (rangeId: RangeId, vmid: Vmid, snapshot: SnapshotRef) => Effect.Effect<void, StorageFault>
    /** Resets a machine's stages after a rollback to the ones stored with the snapshot, or to none if nothing was stored. */
    readonly recallStages: (rangeId: RangeId, vmid: Vmid, snapshot: SnapshotRef) => Effect.Effect<void, StorageFault>
    /** Does nothing if the range is gone. */
    readonly recordStage: (
      rangeId: RangeId,
      vmid: Vmid,
      stepKey: string,
      fingerprint: string,
    ) => Effect.Effect<void, StorageFault>
  }
>()("rangewright/Machines") {}
