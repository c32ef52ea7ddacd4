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

/** How fresh the kept state is. */
export interface Freshness {
  /** When the last whole observation was made; undefined before the first. */
  readonly observedAt: Date | undefined
  /** Since when the hypervisor does not answer; undefined while it does. */
  readonly awaySince: Date | undefined
  readonly awayReason: string | undefined
  /** Why, and since when, the hypervisor's lists are not believed; undefined while they are. */
  readonly doubt?: { readonly since: Date; readonly reason: string } | undefined
}

/** An observation without its machines. */
export interface KeptCluster extends Omit<ObservedCluster, "machines"> {
  readonly machineCount: number
}

/** A VM with what the guest told. */
export interface MachineSighting extends ObservedMachine {
  readonly address?: string | undefined
  /** Reported addresses that belong to others. */
  readonly foreignAddresses?: readonly string[] | undefined
}

/** A machine that the hypervisor's list lacks. */
export interface MissingMachine extends ObservedMachine {
  /** The time of the first observation that lacks it. */
  readonly since: Date
}

/** Passwords of one machine's login, sealed. Without `current` the machine has its template's. */
export interface KeptLogin {
  readonly current?: string | undefined
  /** One that is about to be set: from a stage that was cut short nobody knows whether the machine has it. */
  readonly pending?: string | undefined
}

/** What a VM that is rolled back has to be set to again. It is owed as long as its generation is not this one; undefined: until it is paid. */
export interface OwedSettings {
  readonly settings: MachineSettings
  readonly generation: string | undefined
}

/** The snapshots of a VM as they were read. */
export interface KeptSnapshots extends SnapshotTree {
  readonly readAt: Date
}

/** Whether what is kept was read after this: by more than ten minutes, a clock was set back since. */
export const isReadBefore = (readAt: Date, kept: Date | undefined): boolean => {
  const later = (kept?.getTime() ?? 0) - readAt.getTime()
  return later > 0 && later <= 600_000
}

/** Which snapshot: one that was made anew under its name is another one. */
export type SnapshotRef = Pick<MachineSnapshot, "name" | "takenAt">

/** The kept state of the hypervisor, so that no API read calls it, and the VMIDs given out. */
export class Machines extends Context.Service<
  Machines,
  {
    /**
     * Replaces the kept state by a whole observation, atomically, and ends `away`. Machines belong to the range whose pool they are in.
     * Known addresses stay, and the name of one that shows none. What `record` and `forget` told after the observation's time holds,
     * but for what they told more than ten minutes after it: no observation takes as long, so the clock was set back since.
     * A list that lacks a machine proves nothing: one of a range, and one with stages, stays as it was and is `missing` from now on.
     */
    readonly replace: (cluster: ObservedCluster) => Effect.Effect<void, StorageFault>
    /** Machines that are kept although the last observation lacks them, ascending by VMID. */
    readonly missing: Effect.Effect<readonly MissingMachine[], StorageFault>
    /** The hypervisor's lists are not believed for this reason, or are again (undefined). While they are not, the first `at` holds. */
    readonly doubt: (at: Date, reason: string | undefined) => Effect.Effect<void, StorageFault>
    /** What the last whole observation showed of the cluster itself. Costs the same however many machines there are. */
    readonly cluster: Effect.Effect<KeptCluster | undefined, StorageFault>
    /** The templates that the last observation showed, ascending by VMID. */
    readonly templates: Effect.Effect<readonly ObservedMachine[], StorageFault>
    /** One VM changed by ourselves, shown at once. What is undefined of name and addresses keeps what is kept. */
    readonly record: (machine: MachineSighting) => Effect.Effect<void, StorageFault>
    /** What a guest reports of its addresses now, and nothing else. Without `address` it has none. Nothing happens when the VM is not kept. */
    readonly reported: (
      vmid: Vmid,
      claims: { readonly address: string | undefined; readonly foreignAddresses: readonly string[] },
    ) => Effect.Effect<void, StorageFault>
    /** The VM is gone, which is certain: also what was done inside it is forgotten. */
    readonly forget: (vmid: Vmid) => Effect.Effect<void, StorageFault>
    /** Without templates, ascending by VMID. */
    readonly ofRange: (rangeId: RangeId) => Effect.Effect<readonly RangeMachine[], StorageFault>
    /** Undefined also for a VM that is in no range's pool, and for a template. */
    readonly find: (vmid: Vmid) => Effect.Effect<RangeMachine | undefined, StorageFault>
    /** The hypervisor does not answer. While it is unreachable, the first `since` holds. */
    readonly away: (since: Date, reason: string) => Effect.Effect<void, StorageFault>
    readonly freshness: Effect.Effect<Freshness, StorageFault>
    /**
     * VMIDs for these machines of a range, one each, none of them in `taken` or reserved before. A machine that has a reservation keeps
     * it. All or nothing.
     */
    readonly reserve: (
      rangeId: RangeId,
      machines: readonly string[],
      taken: ReadonlySet<number>,
      span: { readonly from: number; readonly to: number },
    ) => Effect.Effect<ReadonlyMap<string, Vmid>, Exhausted | RangeNotFound | StorageFault>
    /** Gives a machine another VMID: the reserved one was taken by somebody else. */
    readonly replaceReservation: (
      rangeId: RangeId,
      machine: string,
      taken: ReadonlySet<number>,
      span: { readonly from: number; readonly to: number },
    ) => Effect.Effect<Vmid, Exhausted | RangeNotFound | StorageFault>
    readonly release: (rangeId: RangeId, machines: readonly string[]) => Effect.Effect<void, StorageFault>
    readonly reservations: (rangeId: RangeId) => Effect.Effect<ReadonlyMap<string, Vmid>, StorageFault>
    /** Stages inside machines that have succeeded: step key -> fingerprint of its input, by VMID. Forgotten with the VM. */
    readonly stages: (rangeId: RangeId) => Effect.Effect<ReadonlyMap<Vmid, ReadonlyMap<string, string>>, StorageFault>
    /** What guests said of their operating systems, by VMID. Forgotten with the VM when the service removes it. */
    readonly systems: (rangeId: RangeId) => Effect.Effect<ReadonlyMap<Vmid, GuestSystem>, StorageFault>
    /** Replaces what is kept of one; the same again changes nothing. Of a range that is gone nothing is kept. */
    readonly keepSystem: (rangeId: RangeId, vmid: Vmid, system: GuestSystem) => Effect.Effect<void, StorageFault>
    /** The passwords that logins of machines were given, sealed, by VMID. Forgotten with the VM when the service removes it. */
    readonly logins: (rangeId: RangeId) => Effect.Effect<ReadonlyMap<Vmid, KeptLogin>, StorageFault>
    /** Replaces what is kept of a machine's login; nothing in it means the template's. Of a range that is gone nothing is kept. */
    readonly keepLogin: (rangeId: RangeId, vmid: Vmid, login: KeptLogin) => Effect.Effect<void, StorageFault>
    /** Replaces what is kept of the licence of a machine's Windows; undefined: nothing is known. Nothing happens when the range has no such VM. Forgotten with the VM. */
    readonly keepActivation: (
      rangeId: RangeId,
      vmid: Vmid,
      activation: Activation | undefined,
    ) => Effect.Effect<void, StorageFault>
    /** What machines are to be set to after a rollback, by VMID. Forgotten with the VM. */
    readonly owed: (rangeId: RangeId) => Effect.Effect<ReadonlyMap<Vmid, OwedSettings>, StorageFault>
    /** Replaces what is kept of one; undefined: it is paid. Of a range that is gone nothing is kept. */
    readonly owe: (rangeId: RangeId, vmid: Vmid, owed: OwedSettings | undefined) => Effect.Effect<void, StorageFault>
    /** The snapshots of machines as they were last read, by VMID. Forgotten with the VM. */
    readonly snapshots: (rangeId: RangeId) => Effect.Effect<ReadonlyMap<Vmid, KeptSnapshots>, StorageFault>
    /**
     * Replaces what is kept of one, unless that was read up to ten minutes later: a slow reader does not undo what is known. What stages were kept with
     * snapshots that it lacks is forgotten. Of a range that is gone nothing is kept.
     */
    readonly keepSnapshots: (rangeId: RangeId, vmid: Vmid, snapshots: KeptSnapshots) => Effect.Effect<void, StorageFault>
    /** Keeps with a snapshot which stages inside the machine had succeeded when it was taken: those that are recorded now. */
    readonly keepStages: (rangeId: RangeId, vmid: Vmid, snapshot: SnapshotRef) => Effect.Effect<void, StorageFault>
    /** The machine is as it was at a snapshot: its stages are those that were kept with it, and none where nothing was. */
    readonly recallStages: (rangeId: RangeId, vmid: Vmid, snapshot: SnapshotRef) => Effect.Effect<void, StorageFault>
    /** Of a range that is gone nothing is kept. */
    readonly recordStage: (
      rangeId: RangeId,
      vmid: Vmid,
      stepKey: string,
      fingerprint: string,
    ) => Effect.Effect<void, StorageFault>
  }
>()("rangewright/Machines") {}
