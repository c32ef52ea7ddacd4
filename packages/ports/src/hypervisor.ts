import type {
  Action,
  DisguiseMeans,
  GuestSystem,
  Json,
  MachineDetail,
  Nic,
  ObservedCluster,
  PowerState,
  SnapshotTree,
  Vmid,
} from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { HypervisorFault } from "./faults.ts"

/**
 * The result of `dispatch`: `token` identifies the work in progress (a task); null when the effect is complete. It is JSON, so that a
 * journal can store it.
 */
export interface Dispatched {
  readonly token: Json
  /** True if the object of the action is gone, so there was nothing to do. Set by moves of a migration. */
  readonly gone?: boolean
}

/** The result of looking for a VM that a list lacks. */
export type Sought =
  | { readonly type: "there"; readonly node: string; readonly power: PowerState }
  /** No node that could have it does, and its number is free or another VM's. */
  | { readonly type: "absent" }
  | { readonly type: "unknown"; readonly why: string }

/**
 * The machines of one hypervisor cluster. Observation is cheap and never changes anything; `dispatch` starts one effect and returns at
 * once; only `settle` waits. A mutating dispatch on an existing VM first checks that it carries the expected mark; if not, it fails with
 * `not-ours` and changes nothing. Dispatching an action whose effect is already there succeeds. A dispatch whose response was lost fails
 * with `unknown-effect`; dispatching it again is safe. The node in a machine reference is where the VM was last seen: a VM that has moved
 * since is found, and the call acts on it there.
 */
export class Hypervisor extends Context.Service<
  Hypervisor,
  {
    /**
     * The whole cluster, in one call. A VM that it lacks may still exist (`seek`). Power changes settled by this process show at once, even
     * while the cluster's own list lags.
     */
    readonly observe: Effect.Effect<ObservedCluster, HypervisorFault>
    /**
     * The same, but only with the machines in this pool, without tags: the cost does not grow with the cluster. No machines if there is no
     * such pool. A VM or a zone that it lacks may still exist.
     */
    readonly observePool: (poolId: string) => Effect.Effect<ObservedCluster, HypervisorFault>
    /**
     * Looks for a VM that a list lacks: first where it was last seen (undefined if unknown), then everywhere. A refusal, a silent node and
     * any other failure give `unknown`. A single `absent` proves nothing: while a node's cluster file system restarts, it reports every VM as
     * absent.
     */
    readonly seek: (vmid: Vmid, lastSeenOn: string | undefined) => Effect.Effect<Sought>
    /**
     * Why lists may be incomplete: the service's account lacks rights, or the cluster lacks votes. Undefined if there is no known reason.
     */
    readonly blindness: Effect.Effect<string | undefined, HypervisorFault>
    /** Whether the cluster has quorum and accepts changes. Always true for a standalone node. */
    readonly quorate: Effect.Effect<boolean, HypervisorFault>
    /** One VM's configuration, read live, even if the VM moved to another node. Fails with `not-found`. */
    readonly detail: (node: string, vmid: Vmid) => Effect.Effect<MachineDetail, HypervisorFault>
    /** All snapshots of one VM, read live, even if the VM moved to another node. Fails with `not-found`. */
    readonly snapshots: (node: string, vmid: Vmid) => Effect.Effect<SnapshotTree, HypervisorFault>
    /**
     * The VM's network cards as of this snapshot, read live, even if the VM moved to another node. Fails with `not-found` if the VM or the
     * snapshot is gone.
     */
    readonly snapshotCards: (node: string, vmid: Vmid, name: string) => Effect.Effect<readonly Nic[], HypervisorFault>
    /** Whether all disks of a VM are on storage that supports snapshots. Fails with `not-found`. */
    readonly canSnapshot: (node: string, vmid: Vmid) => Effect.Effect<boolean, HypervisorFault>
    /** The means available here to hide that a machine is a VM. Two or three reads. */
    readonly disguiseMeans: Effect.Effect<DisguiseMeans, HypervisorFault>
    /** Actions on machines: clone, configure, start, stop, shutdown, delete, and those on snapshots. */
    readonly dispatch: (action: MachineAction) => Effect.Effect<Dispatched, HypervisorFault>
    /**
     * Waits until the work is over. Success means that the effect was observed; returns the parts of it that could not be achieved, usually
     * none. Can be called again with the same token, even after a restart.
     */
    readonly settle: (action: MachineAction, token: Json) => Effect.Effect<readonly string[], HypervisorFault>
    /**
     * Gives a VM that an older service made a new description that carries our mark (`adoptionOf`): the only change ever made to a VM
     * without the mark. If the VM's name or description differs from what was read in `vm`, or it is a template, fails with `not-ours` and
     * changes nothing. Succeeds if the VM already has the description.
     */
    readonly adopt: (
      vm: Pick<MachineDetail, "vmid" | "node" | "name" | "description">,
      description: string,
    ) => Effect.Effect<void, HypervisorFault>
    /**
     * IPv4 addresses that the guest reports, except loopback and link-local; empty while it does not answer. `node`: where it was last
     * seen.
     */
    readonly addresses: (node: string, vmid: Vmid) => Effect.Effect<readonly string[], HypervisorFault>
    /**
     * The operating system as the guest agent reports it, plain words only; undefined while the agent does not answer or reports nothing
     * useful.
     */
    readonly system: (node: string, vmid: Vmid) => Effect.Effect<GuestSystem | undefined, HypervisorFault>
    /** Names of users with a session in the guest; undefined if no agent answers. */
    readonly sessions: (node: string, vmid: Vmid) => Effect.Effect<readonly string[] | undefined, HypervisorFault>
    /** The clock of one node, to the second. */
    readonly clock: Effect.Effect<Date, HypervisorFault>
    /** Product version, e.g. `9.2.3`. */
    readonly version: Effect.Effect<string, HypervisorFault>
  }
>()("rangewright/Hypervisor") {}

export type MachineAction = Extract<
  Action,
  {
    readonly kind:
      | "clone"
      | "configure"
      | "start"
      | "stop"
      | "shutdown"
      | "delete"
      | "take-snapshot"
      | "roll-back"
      | "remove-snapshot"
  }
>
