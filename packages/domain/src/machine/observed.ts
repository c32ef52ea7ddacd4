import type { Vmid } from "../access/ids.ts"
import type { Hardware } from "./hardware.ts"

export const powerStates = ["running", "stopped", "paused", "unknown"] as const
export type PowerState = (typeof powerStates)[number]

/** A VM as a cluster-wide call shows it. `name` is absent for some seconds after a clone. */
export interface ObservedMachine {
  readonly vmid: Vmid
  readonly node: string
  readonly name: string | undefined
  readonly power: PowerState
  readonly template: boolean
  readonly pool: string | undefined
  readonly cpus: number
  readonly memoryMiB: number
  readonly tags: readonly string[]
}

export interface ObservedNode {
  readonly name: string
  readonly online: boolean
  readonly cpus: number
  /** 0 to 1, over all cores. */
  readonly cpuLoad: number
  readonly memoryMiB: number
  readonly memoryUsedMiB: number
}

export interface ObservedStorage {
  readonly name: string
  readonly node: string
  readonly type: string
  readonly shared: boolean
  readonly active: boolean
  readonly totalBytes: number
  readonly usedBytes: number
  readonly content: readonly string[]
}

/** The state of an SDN zone on one of its nodes. */
export interface ObservedZone {
  readonly zone: string
  readonly node: string
  /** `pending`: the node missed the last apply, so VNets may be missing there. `error`: it failed to create one or more of them. */
  readonly state: "available" | "pending" | "error"
}

/** The whole cluster at one moment. */
export interface ObservedCluster {
  readonly at: Date
  readonly nodes: readonly ObservedNode[]
  readonly storages: readonly ObservedStorage[]
  readonly machines: readonly ObservedMachine[]
  /** Absent: unknown. */
  readonly zones?: readonly ObservedZone[]
}

export interface Nic {
  readonly index: number
  readonly model: string
  /** Upper case, colons. */
  readonly mac: string
  readonly bridge: string
  readonly tag: number | undefined
  readonly firewall: boolean
}

/** Describes a network card and its connection (`net0 on vmbr1, tag 10`). */
export const cardText = ({ index, bridge, tag }: Nic): string =>
  `net${index} on ${bridge}${tag === undefined ? "" : `, tag ${tag}`}`

/** A VM's configuration, read from the VM itself. */
export interface MachineDetail {
  readonly vmid: Vmid
  readonly node: string
  readonly name: string
  readonly template: boolean
  readonly description: string
  readonly tags: readonly string[]
  readonly cpus: number
  readonly memoryMiB: number
  /** Balloon minimum; undefined when ballooning is not set. */
  readonly balloonMiB: number | undefined
  readonly nics: readonly Nic[]
  /** True if network cards are added, removed, or change model or address only when the VM starts; their network can change at any time. */
  readonly coldCards?: boolean
  readonly lock: string | undefined
  readonly digest: string | undefined
  /** Changes with each rollback; absent: the VM has none. */
  readonly generation?: string | undefined
  /** Whether it has an absolute pointing device; absent: unknown. */
  readonly tablet?: boolean
  /** Storage for the memory state of its snapshots, if its configuration names one. */
  readonly memoryStorage?: string | undefined
  /** Storage of the first disk. */
  readonly storage: string | undefined
  /** The processor, mainboard and disks it shows, as currently in force; absent: unknown. */
  readonly hardware?: Hardware
}
