import type { Vmid } from "../access/ids.ts"
import type { DisguiseMeans } from "../machine/disguise.ts"
import type { GuestSystem } from "../machine/guest-system.ts"
import type { MachineDetail, ObservedCluster } from "../machine/observed.ts"
import type { MachineSettings } from "./action.ts"
import type { OtherRange } from "../range/naming.ts"
import type { GuestObstacle } from "./guest-obstacles.ts"
import type { Durations } from "./timing.ts"

/** A network of the hypervisor, as far as a plan needs it. */
export interface PlanNetwork {
  readonly name: string
  /** Node of a bridge; undefined for a VNet, which every node has. */
  readonly node?: string | undefined
  /** False while a change waits to be applied. */
  readonly usable: boolean
  /** True when it carries our comment or alias. */
  readonly ours: boolean
}

/** Room on a node that another range's plan has given to a machine which does not use it yet. */
export interface ReservedCapacity {
  readonly node: string
  readonly memoryMiB: number
  readonly cpus: number
}

/** Everything a plan is made from besides what is wanted: the world at one moment, and what is stored about it. */
export interface PlanWorld {
  readonly cluster: ObservedCluster
  /** Of every VM that `rangeMembers` returns and whose node answers, and of the templates that `templatesToRead` returns. */
  readonly details: ReadonlyMap<Vmid, MachineDetail>
  readonly networks: readonly PlanNetwork[]
  readonly poolExists: boolean
  /** The addresses that guests were last seen with, by VMID: claims, until `judgedWorld` has judged them. */
  readonly addresses: ReadonlyMap<Vmid, string>
  /** Other addresses that they claim and that are not theirs. Absent: nothing is known. */
  readonly foreignAddresses?: ReadonlyMap<Vmid, readonly string[]>
  /** Stages inside machines that have succeeded: step key -> fingerprint of its input (`stageFingerprint`). */
  readonly stages: ReadonlyMap<Vmid, ReadonlyMap<string, string>>
  /** Operating systems as guests reported them. Absent: nothing was reported. */
  readonly systems?: ReadonlyMap<Vmid, GuestSystem>
  /** Settings owed to machines that were rolled back. Absent: none are. */
  readonly owed?: ReadonlyMap<Vmid, MachineSettings>
  /** VMIDs given to machines of this range, by machine name. Every machine that may have to be cloned needs one. */
  readonly reservations: ReadonlyMap<string, Vmid>
  /** All other ranges. Their pools have the same names. Absent: there are none. */
  readonly otherRanges?: readonly OtherRange[]
  /** Machines in `cluster.machines` that the hypervisor's list lacks, as last seen, and why it is unknown whether they are gone. */
  readonly unsure?: ReadonlyMap<Vmid, string>
  /** Why the hypervisor's lists are in doubt. Absent: they are trusted. */
  readonly doubt?: string | undefined
  /** Absent: nothing is known about other plans. */
  readonly reserved?: readonly ReservedCapacity[]
  /** Why work inside machines is impossible: a plan that needs such work is refused. Absent: nothing prevents it. */
  readonly guestObstacles?: readonly GuestObstacle[]
  /** What the hypervisor can do for disguises. Absent: not looked up, since the range has none. */
  readonly disguiseMeans?: DisguiseMeans | undefined
  /** How long work took in earlier runs. Absent: nothing is known. */
  readonly durations?: Durations
  /** Names of roles that are the user's own, and not everybody's. Absent: all may be. */
  readonly ownRoles?: ReadonlySet<string> | undefined
}

/** The operator's choices that a plan needs. */
export interface PlanSettings {
  /** True: networks are VNets of an SDN zone and VMs may go to any node. False: a bridge on one node that holds everything. */
  readonly clusterMode: boolean
  readonly sdnZone: string
  readonly vxlanTagBase: number
  /** Bridge or VNet of the NAT network (192.0.2.0/24). */
  readonly natNetwork: string
  /** Node of a single-node installation; undefined: the first online node by name. */
  readonly defaultNode: string | undefined
  /** Storage for full clones; undefined: the template's own. */
  readonly vmStorage: string | undefined
  /** True: the operator wants nothing done inside machines. Such work is left out, and named in the plan's notes. */
  readonly guestsLeftOut: boolean
  /** True: stages reach machines over the range's network, which begins at its router; otherwise through the hypervisor. */
  readonly guestsOverNetwork?: boolean
  /** Templates that have a login of their own. Absent: none. */
  readonly templatesWithLogin?: ReadonlySet<string>
  /** Addresses that machines of a range may not reach: the hypervisor's own. */
  readonly protectedAddresses: readonly string[]
}
