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

/** What `dispatch` answers: `token` names the work going on (a task), null when the effect is complete. JSON, so that a journal can keep it. */
export interface Dispatched {
  readonly token: Json
  /** True: what the action is about is gone, so that there was nothing to do it to. Told by moves of a migration. */
  readonly gone?: boolean
}

/** A VM that was asked for by itself, because a list lacks it. */
export type Sought =
  | { readonly type: "there"; readonly node: string; readonly power: PowerState }
  /** Every node that could have it has it not, and its number is free or somebody else's. */
  | { readonly type: "absent" }
  | { readonly type: "unknown"; readonly why: string }

/**
 * The machines of one hypervisor cluster. Observation is cheap and never changes anything; `dispatch` starts one effect and returns at
 * once; only `settle` waits. A mutating dispatch on an existing VM first makes sure that it carries the expected mark, else it fails
 * with `not-ours` and nothing was done. Dispatching an action whose effect is already there is success. A dispatch whose answer was lost
 * fails with `unknown-effect`; dispatching it again is safe. The node in a machine's reference is where it was last seen: a VM that has moved
 * since is found, and everything happens where it is.
 */
export class Hypervisor extends Context.Service<
  Hypervisor,
  {
    /** The whole cluster, in one call. That it lacks a VM proves nothing (`seek`). Power changes that this process settled show at once, even where the cluster's own list is late. */
    readonly observe: Effect.Effect<ObservedCluster, HypervisorFault>
    /**
     * The same, but of the machines only those in this pool, without tags: the cost does not grow with the cluster's machines. No machines
     * where there is no such pool. That it lacks a VM or a zone proves nothing.
     */
    readonly observePool: (poolId: string) => Effect.Effect<ObservedCluster, HypervisorFault>
    /**
     * Asks for a VM that a list lacks: where it was last seen (undefined: nobody knows), then everywhere. A refusal, a node that is silent and
     * any other failure are `unknown`. One `absent` is no proof: while a node's cluster file system starts anew it says the same of all.
     */
    readonly seek: (vmid: Vmid, lastSeenOn: string | undefined) => Effect.Effect<Sought>
    /** Why lists may lack what is there: rights that the service's account lacks, or missing votes. Undefined: nothing speaks against them. */
    readonly blindness: Effect.Effect<string | undefined, HypervisorFault>
    /** Whether the cluster has the votes that it needs to take changes. A node that is in no cluster always has. */
    readonly quorate: Effect.Effect<boolean, HypervisorFault>
    /** One VM's configuration, read live, on another node where it has moved. Fails with `not-found`. */
    readonly detail: (node: string, vmid: Vmid) => Effect.Effect<MachineDetail, HypervisorFault>
    /** All snapshots of one VM, read live, on another node where it has moved. Fails with `not-found`. */
    readonly snapshots: (node: string, vmid: Vmid) => Effect.Effect<SnapshotTree, HypervisorFault>
    /** The network cards that a VM had when this snapshot of it was taken, read live, on another node where it has moved. Fails with `not-found` where the VM or the snapshot is gone. */
    readonly snapshotCards: (node: string, vmid: Vmid, name: string) => Effect.Effect<readonly Nic[], HypervisorFault>
    /** Whether all disks of a VM are where snapshots can be kept. Fails with `not-found`. */
    readonly canSnapshot: (node: string, vmid: Vmid) => Effect.Effect<boolean, HypervisorFault>
    /** What can be done here to hide that a VM is one. Two or three reads. */
    readonly disguiseMeans: Effect.Effect<DisguiseMeans, HypervisorFault>
    /** Actions about machines: clone, configure, start, stop, shutdown, delete, and those on snapshots. */
    readonly dispatch: (action: MachineAction) => Effect.Effect<Dispatched, HypervisorFault>
    /**
     * Waits until the work is over. Success means that the effect was observed; gives what of it could not be had all the same, usually
     * nothing. May be called again with the same token, also after a restart.
     */
    readonly settle: (action: MachineAction, token: Json) => Effect.Effect<readonly string[], HypervisorFault>
    /**
     * Gives a VM that an older service made another description, and thereby our mark (`adoptionOf`): the one change to a VM without it.
     * Only where `vm` still is the VM that was read, by its name and description, and no template: else `not-ours`, and nothing was done.
     * A VM that has the description already is success.
     */
    readonly adopt: (
      vm: Pick<MachineDetail, "vmid" | "node" | "name" | "description">,
      description: string,
    ) => Effect.Effect<void, HypervisorFault>
    /** IPv4 addresses that the guest reports, without loopback and link-local; empty while it does not answer. `node`: where it was last seen. */
    readonly addresses: (node: string, vmid: Vmid) => Effect.Effect<readonly string[], HypervisorFault>
    /** What the guest's agent says of its operating system, plain words only; undefined while it does not answer, or says nothing of use. */
    readonly system: (node: string, vmid: Vmid) => Effect.Effect<GuestSystem | undefined, HypervisorFault>
    /** Names of users with a session in the guest; undefined when no agent answers. */
    readonly sessions: (node: string, vmid: Vmid) => Effect.Effect<readonly string[] | undefined, HypervisorFault>
    /** The time of one node, to the second. */
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
