import type { RangeId, Vmid } from "../access/ids.ts"
import type { NicText } from "./nic.ts"

/** How the configuration of an object differs from what is in force; undefined in a field of this type: it does not. */
export type PendingState = "new" | "changed" | "deleted"

/** An edit of a node's own network that is pending until that node's next reload. */
export interface PendingInterface {
  readonly name: string
  readonly change: "added" | "changed" | "removed"
}

/** A node's own network, as seen through a shell. */
export interface HostNetwork {
  readonly type: "seen"
  /** Each with its prefix. */
  readonly addresses: readonly { readonly device: string; readonly address: string }[]
  /** `network` has its prefix, also for a single host; `via`: the router that leads there. */
  readonly routes: readonly { readonly network: string; readonly via: string | undefined; readonly device: string }[]
  /** Our own interface files, by device. */
  readonly files: Readonly<Record<string, string>>
}

export interface InstallationNode {
  readonly name: string
  readonly online: boolean
  /** Address in the cluster's network, by which other nodes reach it. */
  readonly address: string | undefined
  /** Packages that SDN or any network reload needs and this node lacks. */
  readonly missingPackages: readonly string[]
  readonly pending: readonly PendingInterface[]
  /** Undefined: no shell is configured for it. `silent`: one is configured, and does not answer. */
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
  /** Nodes of its zone on which it is in force but missing, because their reload failed. */
  readonly missingOn: readonly string[]
}

/** A bridge of one node, as configured. */
export interface InstallationBridge {
  readonly node: string
  readonly name: string
  readonly ports: readonly string[]
  /** The node's own address on it, with its prefix; undefined: none. */
  readonly address?: string | undefined
  /** Everything needed to create it again; opaque here. */
  readonly settings: Readonly<Record<string, string | number | boolean>>
}

export interface InstallationRange {
  readonly id: RangeId
  readonly number: number
  /** Groups on the hypervisor that have the range: those of everybody who has it by any path, and of the administrators. */
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
  /** As in force. Undefined when the machine's configuration could not be read. */
  readonly nics: readonly NicText[] | undefined
  /** Cards of a running machine with a change pending until its next cold start: as they will be, empty when removed. Absent: none. */
  readonly waiting?: readonly NicText[]
  /** True: it could not be read now, and all but its node is from an earlier reading. */
  readonly unseen?: boolean
  readonly snapshots: readonly { readonly name: string; readonly nics: readonly NicText[] }[]
}

/** A user or group may use a VNet. */
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

/** An installation as it was on bridges: enough to restore it. Plain JSON. */
export interface MigrationRecord {
  readonly version: 1
  readonly zone: string
  /** The outside network before and after: settings may have changed since. Absent in records that are older than these fields. */
  readonly natBridge?: string | undefined
  readonly natVnet?: string | undefined
  /** Zone and VNets that migrations created, and that a way back removes. */
  readonly madeZone: boolean
  readonly madeVnets: readonly string[]
  readonly bridges: readonly InstallationBridge[]
  readonly machines: readonly RecordedMachine[]
}

/** Everything that decides how an installation moves between bridges and VNets, at one moment. */
export interface Installation {
  readonly quorate: boolean
  readonly nodes: readonly InstallationNode[]
  readonly zones: readonly InstallationZone[]
  readonly vnets: readonly InstallationVnet[]
  /** Other pending SDN changes, for people: `subnet lab-10.0.0.0-24 is new`. */
  readonly otherPending: readonly string[]
  readonly bridges: readonly InstallationBridge[]
  readonly ranges: readonly InstallationRange[]
  readonly machines: readonly InstallationMachine[]
  /** Why `machines` may be incomplete, for people. */
  readonly doubts?: readonly string[]
  readonly rights: readonly VnetRight[]
  /** The record of an earlier migration; undefined when there was none. */
  readonly record: MigrationRecord | undefined
}

/** The operator's choices. */
export interface MigrationOptions {
  /** False: a single node, which needs no more than its bridges. */
  readonly clusterMode: boolean
  /** Name of the VXLAN zone. */
  readonly zone: string
  /** Range N has the VXLAN tag base + N. */
  readonly vxlanTagBase: number
  /** The bridge through which routers reach the outside before a migration. */
  readonly natBridge: string
  /** The VNet that replaces it. */
  readonly natVnet: string
  /** Groups on the hypervisor whose members may use that VNet. */
  readonly natGroups: readonly string[]
  /** The node that is the outside network's gateway, when several could be. */
  readonly gatewayNode?: string | undefined
  /** Create the zone when it is missing, with all nodes as peers. */
  readonly createZone: boolean
}
