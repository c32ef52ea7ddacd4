import type { Vmid } from "../access/ids.ts"
import type { DisguiseMeans } from "../machine/disguise.ts"
import type { GuestSystem } from "../machine/guest-system.ts"
import type { MachineDetail, ObservedCluster } from "../machine/observed.ts"
import type { MachineSettings } from "./action.ts"
import type { OtherRange } from "../range/naming.ts"
import type { GuestObstacle } from "./guest-obstacles.ts"

/** A network of the hypervisor, as far as a plan cares. */
export interface PlanNetwork {
  readonly name: string
  /** Node of a bridge; undefined for a VNet, which every node has. */
  readonly node?: string | undefined
  /** False while a change waits to be applied. */
  readonly usable: boolean
  /** True when it carries our comment or alias. */
  readonly ours: boolean
}

/** Room on a node that another range's plan has given to a machine which does not take it yet. */
export interface ReservedCapacity {
  readonly node: string
  readonly memoryMiB: number
  readonly cpus: number
}

/** Everything a plan is made from besides what is wanted: the world at one moment, and what is remembered of it. */
export interface PlanWorld {
  readonly cluster: ObservedCluster
  /** Of every VM that `rangeMembers` names and whose node answers, and of the templates that `templatesToRead` names. */
  readonly details: ReadonlyMap<Vmid, MachineDetail>
  readonly networks: readonly PlanNetwork[]
  readonly poolExists: boolean
  /** What the guests were last seen with, by VMID: claims, until `judgedWorld` has judged them. */
  readonly addresses: ReadonlyMap<Vmid, string>
  /** What else they claim to have and is not theirs. Absent: nothing is known. */
  readonly foreignAddresses?: ReadonlyMap<Vmid, readonly string[]>
  /** Stages inside machines that have succeeded: step key -> fingerprint of its input (`stageFingerprint`). */
  readonly stages: ReadonlyMap<Vmid, ReadonlyMap<string, string>>
  /** What guests said of their operating systems. Absent: nothing. */
  readonly systems?: ReadonlyMap<Vmid, GuestSystem>
  /** What machines that were rolled back have not been set to again. Absent: all were. */
  readonly owed?: ReadonlyMap<Vmid, MachineSettings>
  /** VMIDs given to machines of this range, by machine name. Every machine that may have to be cloned needs one. */
  readonly reservations: ReadonlyMap<string, Vmid>
  /** All other ranges. Their pools are named like them. Absent: there are none. */
  readonly otherRanges?: readonly OtherRange[]
  /** Machines among `cluster.machines` that the hypervisor's list lacks, as they were last seen, and why nobody can say whether they are gone. */
  readonly unsure?: ReadonlyMap<Vmid, string>
  /** Why the hypervisor's lists are not believed. Absent: they are. */
  readonly doubt?: string | undefined
  /** Absent: nothing is known of other plans. */
  readonly reserved?: readonly ReservedCapacity[]
  /** What stands in the way of work inside machines: a plan that needs such work is none. Absent: nothing does. */
  readonly guestObstacles?: readonly GuestObstacle[]
  /** What the hypervisor can do for disguises. Absent: not asked, since the range has none. */
  readonly disguiseMeans?: DisguiseMeans | undefined
}

/** What the operator decides and a plan needs. */
export interface PlanSettings {
  /** True: networks are VNets of an SDN zone and VMs may go to any node. False: a bridge on one node that holds everything. */
  readonly clusterMode: boolean
  readonly sdnZone: string
  readonly vxlanTagBase: number
  /** Bridge or VNet of the NAT network (192.0.2.0/24). */
  readonly natNetwork: string
  /** Node of a single-node installation, and the last resort of placement; undefined: the first node by name. */
  readonly defaultNode: string | undefined
  /** Storage for full clones; undefined: the template's own. */
  readonly vmStorage: string | undefined
  /** True: the operator wants nothing done inside machines. What would be is left out, and named in the plan's notes. */
  readonly guestsLeftOut: boolean
  /** Stages speak to machines over the range's network, which begins at its router; otherwise through the hypervisor. */
  readonly guestsOverNetwork?: boolean
  /** Templates that have a login of their own. Absent: none. */
  readonly templatesWithLogin?: ReadonlySet<string>
  /** Addresses that machines of a range may not reach: the hypervisor's own. */
  readonly protectedAddresses: readonly string[]
}
