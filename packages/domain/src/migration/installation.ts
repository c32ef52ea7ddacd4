import type { RangeId, Vmid } from "../access/ids.ts"
import type { NicText } from "./nic.ts"

/** How something configured differs from what is in force. Undefined elsewhere: it does not. */
export type PendingState = "new" | "changed" | "deleted"

/** An edit of a node's own network that waits for the next reload of that node. */
export interface PendingInterface {
  readonly name: string
  readonly change: "added" | "changed" | "removed"
}

/** What a shell on a node shows of its own network. */
export interface HostNetwork {
  readonly type: "seen"
  /** Each with its prefix. */
  readonly addresses: readonly { readonly device: string; readonly address: string }[]
  /** `network` with its prefix, also that of a single host; `via`: the router that leads there. */
  readonly routes: readonly { readonly network: string; readonly via: string | undefined; readonly device: string }[]
  /** Our own files of interfaces, by device. */
  readonly files: Readonly<Record<string, string>>
}

export interface InstallationNode {
  readonly name: string
  readonly online: boolean
  /** Address in the cluster's network, by which other nodes reach it. */
  readonly address: string | undefined
  /** Packages that SDN or any reload of networks needs and this node lacks. */
  readonly missingPackages: readonly string[]
  readonly pending: readonly PendingInterface[]
  /** Undefined: no shell on it is configured. `silent`: one is, and it does not answer. */
  readonly host?: HostNetwork | { readonly type: "silent"; readonly because: string } | undefined
}

export interface InstallationZone {
  readonly name: string
  readonly type: string
  readonly peers: readonly string[]
  /** Nodes that have it; empty: all. */
  readonly nodes: readonly string[]
  readonly mtu: number | undefined
  readonly state: PendingState | undefined
}

export interface InstallationVnet {
  readonly name: string
  readonly zone: string
  readonly tag: number | undefined
  readonly alias: string
  readonly vlanAware: boolean
  readonly state: PendingState | undefined
  /** Nodes of its zone on which it is in force and yet not there, because their reload failed. */
  readonly missingOn: readonly string[]
}

/** A bridge of one node, as configured. */
export interface InstallationBridge {
  readonly node: string
  readonly name: string
  readonly ports: readonly string[]
  /** The node's own address on it, with its prefix; undefined: none. */
  readonly address?: string | undefined
  /** All that is needed to make it again; nobody here looks into it. */
  readonly settings: Readonly<Record<string, string | number | boolean>>
}

export interface InstallationRange {
  readonly id: RangeId
  readonly number: number
  /** Groups on the hypervisor that have it: those of everybody who has the range by any way, and of the administrators. */
  readonly groups: readonly string[]
}

export interface InstallationMachine {
  readonly vmid: Vmid
  readonly node: string
  readonly name: string
  readonly kind: "vm" | "container"
  readonly template: boolean
  readonly pool: string | undefined
  readonly tags: readonly string[]
  readonly running: boolean
  readonly lock: string | undefined
  readonly description: string
  /** As they are in force. Undefined when its configuration could not be read. */
  readonly nics: readonly NicText[] | undefined
  /** Cards of a running machine with a change that waits for its next cold start: as they will be, empty when they go. Absent: none. */
  readonly waiting?: readonly NicText[]
  /** True: it could not be read now, and all but its node is from an earlier look. */
  readonly unseen?: boolean
  readonly snapshots: readonly { readonly name: string; readonly nics: readonly NicText[] }[]
}

/** That a user or group may use a VNet. */
export interface VnetRight {
  readonly vnet: string
  readonly subject: "user" | "group"
  readonly name: string
}

/** A machine's network cards before it was moved. */
export interface RecordedMachine {
  readonly vmid: Vmid
  readonly name: string
  readonly node: string
  readonly range?: RangeId | undefined
  readonly nics: readonly NicText[]
}

/** What an installation on bridges was like: enough to bring it back. Plain JSON. */
export interface MigrationRecord {
  readonly version: 1
  readonly zone: string
  /** The outside network before and after: settings may have changed since. Absent in records that were saved before these were kept. */
  readonly natBridge?: string | undefined
  readonly natVnet?: string | undefined
  /** Zone and VNets that migrations made, and that a way back removes. */
  readonly madeZone: boolean
  readonly madeVnets: readonly string[]
  readonly bridges: readonly InstallationBridge[]
  readonly machines: readonly RecordedMachine[]
}

/** All that decides how an installation moves between bridges and VNets, at one moment. */
export interface Installation {
  readonly quorate: boolean
  readonly nodes: readonly InstallationNode[]
  readonly zones: readonly InstallationZone[]
  readonly vnets: readonly InstallationVnet[]
  /** Pending SDN changes of other sorts, for people: `subnet lab-10.0.0.0-24 is new`. */
  readonly otherPending: readonly string[]
  readonly bridges: readonly InstallationBridge[]
  readonly ranges: readonly InstallationRange[]
  readonly machines: readonly InstallationMachine[]
  /** Why machines may be missing in `machines`, for people. */
  readonly doubts?: readonly string[]
  readonly rights: readonly VnetRight[]
  /** What an earlier migration saved; undefined when there was none. */
  readonly record: MigrationRecord | undefined
}

/** What the operator decides. */
export interface MigrationOptions {
  /** False: one node, whose bridges are all it needs. */
  readonly clusterMode: boolean
  /** Name of the VXLAN zone. */
  readonly zone: string
  /** Range N has the VXLAN tag base + N. */
  readonly vxlanTagBase: number
  /** The bridge of the network that routers reach the outside through, before. */
  readonly natBridge: string
  /** The VNet that takes its place. */
  readonly natVnet: string
  /** Groups on the hypervisor whose members may use that VNet. */
  readonly natGroups: readonly string[]
  /** The node that is the outside network's gateway, where several look like it. */
  readonly gatewayNode?: string | undefined
  /** Make the zone where it is missing, with all nodes as peers. */
  readonly createZone: boolean
}
