import type { Disc } from "./disc.ts"
import type { RandomState } from "./random.ts"

/** The whole state of the simulated cluster: plain data, so that it can be copied, compared and stored. */
export interface State {
  random: RandomState
  clusterName: string
  /** Options of the whole cluster. */
  readonly options: Config
  readonly nodes: Map<string, NodeState>
  readonly storages: Map<string, StorageState>
  /** By VMID; a VMID is unique in the cluster. */
  readonly guests: Map<number, Guest>
  readonly access: AccessState
  readonly pools: Map<string, Pool>
  /** Resources of high availability by the VMID of their guest. */
  readonly ha: Map<number, HaResource>
  /** Rules of high availability by their id, in their order. */
  readonly haRules: Map<string, HaRule>
  /** Options of custom processor models, by name without prefix. */
  readonly cpuModels: Map<string, Config>
  readonly sdn: SdnState
  /** Jobs of backups by their id. */
  readonly backupJobs: Map<string, Config>
  /** By owner: `cluster`, `node pve`, `vm 100`. */
  readonly firewalls: Map<string, Firewall>
  /** By UPID, in the order of their start. */
  readonly tasks: Map<string, TaskRecord>
  /** DHCP leases: network (`10.1.20` or `192.0.2`) to MAC address to last octet. */
  readonly leases: Map<string, Map<string, number>>
  nextPid: number
}

/** One node. */
export interface NodeState {
  readonly name: string
  readonly id: number
  readonly address: string
  readonly cores: number
  readonly memoryBytes: number
  bootedAt: number
  /** Host configuration: the running one, and the pending edit in interfaces.new (undefined: no edit). */
  interfaces: Map<string, Interface>
  pendingInterfaces: Map<string, Interface> | undefined
  /** The node's own files, addresses and routes. */
  host: HostState
  /** VNets whose bridge exists here, from the last successful reload. */
  readonly vnets: Set<string>
  /** The version of the SDN configuration that this node last read; 0: none yet. */
  sdnVersion: number
  dns: { search: string; dns1?: string; dns2?: string; dns3?: string }
  timezone: string
  /** Options of the node in the cluster. */
  options?: Config
  /** UPIDs of this node: finished tasks in the order of their end, running ones in the order of their start. */
  readonly tasks: string[]
}

/** State of a node besides its configured interfaces. */
export interface HostState {
  /** Files written on the node, by path. */
  readonly files: Map<string, string>
  /** Addresses added without being configured, and configured ones that were removed: `device address/prefix`. */
  readonly added: Set<string>
  readonly removed: Set<string>
  /** By network with its prefix. */
  readonly routes: Map<string, HostRoute>
}

export interface HostRoute {
  /** Undefined: the network is directly connected to the device. */
  readonly via: string | undefined
  readonly device: string
}

export const emptyHost = (): HostState => ({ files: new Map(), added: new Set(), removed: new Set(), routes: new Map() })

/** An interface of a node, with the API's own keys. */
export type Interface = Record<string, string | number>

/** One storage as the cluster knows it. */
export interface StorageState {
  readonly id: string
  readonly type: string
  content: string[]
  readonly shared: boolean
  /** The nodes that have it; empty means all. */
  nodes: string[]
  disabled: boolean
  /** Other properties as configured (path, pool, vgname, …). */
  readonly options: Record<string, string | number>
  /** Size in bytes: of the storage if it is shared, else of its part on each node. */
  capacityBytes: number
  /** Volumes by id; the key begins with the node for local storage: `node/storage:volume`. */
  readonly volumes: Map<string, Volume>
  /** The storage is full. */
  full: boolean
}

/** One disk image, ISO image or other file on a storage. */
export interface Volume {
  readonly volid: string
  readonly node: string
  readonly vmid: number | undefined
  sizeBytes: number
  usedBytes: number
  readonly format: string
  readonly content: string
  readonly ctime: number
  /** The base volume of a linked clone. */
  readonly parent: string | undefined
  /** Content of an uploaded disc image. */
  readonly disc?: Disc
  /** The guest in a backup. */
  readonly backup?: Backup
  /** Of a backup: its notes, and whether it is protected. */
  notes?: string
  protected?: boolean
}

/** A guest at the time of its backup. */
export interface Backup {
  readonly config: Config
  readonly os: GuestOs | undefined
  /** By the name of the disk. */
  readonly disks: Readonly<Record<string, { readonly sizeBytes: number; readonly usedBytes: number; readonly format: string }>>
}

/** A guest's options as in its configuration file. */
export type Config = Record<string, string | number>

/** A snapshot. */
export interface Snapshot {
  readonly name: string
  readonly parent: string | undefined
  description: string
  readonly time: number
  readonly memory: boolean
  readonly config: Config
  readonly os: GuestOs | undefined
  /** With memory: how far the guest's clock was behind, in milliseconds. */
  readonly clockBehind?: number
}

/** One VM: its configuration, its virtual machine, and the operating system inside. */
export interface Guest {
  readonly vmid: number
  node: string
  config: Config
  /** Changes that are pending until a running VM's next start; undefined means: to be deleted. */
  pending: Record<string, string | number | undefined>
  /** Drives among the pending removals whose volumes are to be deleted. */
  forced?: string[]
  snapshots: Map<string, Snapshot>
  parent: string | undefined
  status: "stopped" | "running"
  /** The processor is paused, or the system sleeps. */
  paused: boolean | "asleep"
  /** Its file systems were frozen through the agent. */
  frozen?: boolean
  pid: number | undefined
  startedAt: number | undefined
  boot: Boot
  /** The system on its disks; undefined if nothing is bootable. */
  os: GuestOs | undefined
  /** Commands started through the agent, by process id. */
  execs: Map<number, Exec>
  nextExec: number
  /** How far its clock is behind the node's, in milliseconds: a boot takes the node's time, a restored memory continues with its own. */
  clockBehind?: number
  /** When a field that the status daemon reports last changed, and what it reported before. */
  changedAt: number
  reported: Reported | undefined
}

/** The progress of a guest's boot until its agent answers. */
export type Boot =
  | { readonly kind: "off" }
  | { readonly kind: "queued" }
  /** A disc's boot menu waits for keys; then the installer waits for missing answers. */
  | { readonly kind: "installer"; readonly typed: string }
  | { readonly kind: "installing"; readonly until: number; readonly os: GuestOs }
  | { readonly kind: "booting"; readonly until: number }
  | { readonly kind: "up"; readonly since: number }

/** The status daemon's report about a guest. */
export interface Reported {
  readonly name: string
  readonly status: string
  readonly template: number
  readonly maxcpu: number
  readonly maxmem: number
  readonly maxdisk: number
  readonly startedAt: number | undefined
}

/** The operating system on a guest's disks; clones and snapshots include it. */
export interface GuestOs {
  readonly family: "linux" | "windows"
  readonly prettyName: string
  readonly id: string
  readonly version: string
  hostname: string
  readonly users: string[]
  /** Accounts of a system that was installed from a disc; a password may be a hash. Absent: those of the template. */
  readonly accounts?: readonly { readonly name: string; readonly password: string }[]
  /** Absent: the agent is installed. */
  readonly agent?: boolean
  /** Users with a session. Only programs that control the simulator change this. */
  sessions: string[]
  /** Static addresses by interface index; other interfaces use DHCP. */
  addresses: Record<string, StaticAddress>
  /** The recorded effect of each stage by its name. */
  stages: Record<string, unknown>
  roles: string[]
  /** Digest of the last input of each stage: running it again with the same input changes nothing. */
  applied: Record<string, string>
  /** Files written through the agent. */
  files: Record<string, string>
}

/** An address set inside a guest. */
export interface StaticAddress {
  readonly address: string
  readonly prefix: number
  readonly gateway?: string
  readonly dns?: readonly string[]
}

/** A command started through the agent. */
export interface Exec {
  readonly pid: number
  readonly command: readonly string[]
  readonly input: string
  exited: boolean
  exitcode: number
  output: string
  error: string
  /** When a running stage ends. */
  endsAt: number | undefined
}

/** One task; it runs while its exit status is undefined. Times are in seconds. */
export interface TaskRecord {
  readonly upid: string
  readonly node: string
  readonly pid: number
  readonly pstart: number
  readonly starttime: number
  readonly type: string
  readonly id: string
  /** `user@realm`, without the token. */
  readonly user: string
  readonly tokenid: string | undefined
  readonly log: string[]
  exitstatus: string | undefined
  endtime: number | undefined
}

/** A pool; nested ones have `/` in their id. */
export interface Pool {
  readonly poolid: string
  comment: string | undefined
  readonly vms: Set<number>
  readonly storages: Set<string>
}

/** A guest whose power state and node the cluster's manager decides. */
export interface HaResource {
  readonly vmid: number
  state: "started" | "stopped" | "disabled" | "ignored"
  /** Failures of the manager in a row; after the second one it gives up on the guest. */
  failures: number
  /** The node to which it was requested to move, and how. */
  wanted: { readonly node: string; readonly how: "migrate" | "relocate" } | undefined
  /** Other properties as configured (`comment`, `max_restart`, …). */
  options: Record<string, string | number>
}

/** The nodes on which HA resources may be, or the resources that must be together or apart. */
export interface HaRule {
  readonly rule: string
  readonly type: "node-affinity" | "resource-affinity"
  /** VMIDs, ascending. */
  resources: number[]
  /** Priority by node; empty if the rule is about resources only. */
  readonly nodes: Map<string, number>
  /** No other node is allowed. */
  readonly strict: boolean
  readonly affinity: "positive" | "negative" | undefined
  readonly disabled: boolean
  readonly comment: string | undefined
}

/** The configuration of one firewall. */
export interface Firewall {
  readonly options: Config
  readonly rules: Config[]
  /** By name in lower case. */
  readonly aliases: Map<string, { readonly name: string; readonly cidr: string; readonly comment: string | undefined }>
  /** Entries by address. */
  readonly ipsets: Map<string, { readonly comment: string | undefined; readonly entries: Map<string, Config> }>
  /** Security groups; only the cluster has them. */
  readonly groups: Map<string, { readonly comment: string | undefined; readonly rules: Config[] }>
}

/** Users, groups, tokens, roles and the access list. */
export interface AccessState {
  readonly users: Map<string, User>
  readonly groups: Map<string, { comment: string | undefined; readonly members: Set<string> }>
  readonly roles: Map<string, { readonly special: boolean; privileges: Set<string> }>
  readonly realms: Map<string, { readonly type: string; comment: string; default: boolean; readonly options?: Config }>
  /** Path to subject (`user@realm`, `@group`, `user@realm!token`) to role to "propagates". */
  readonly acl: Map<string, Map<string, Map<string, boolean>>>
  /** Signs tickets; secret. */
  readonly secret: string
  /** Increases with every change, so that resolved rights can be cached until then. */
  version: number
}

/** One user; times are in seconds, 0 means never. */
export interface User {
  readonly userid: string
  enabled: boolean
  expire: number
  comment: string | undefined
  email: string | undefined
  firstname: string | undefined
  lastname: string | undefined
  keys: string | undefined
  /** Salted hash; undefined: no password. */
  password: { readonly salt: string; readonly hash: string } | undefined
  readonly tokens: Map<string, Token>
}

/** One API token. */
export interface Token {
  readonly tokenid: string
  privsep: boolean
  expire: number
  comment: string | undefined
  /** Hash of the secret, which is shown once. */
  hash: string
}

/** An SDN object with the API's own keys; `type` among them. */
export type SdnObject = Record<string, string | number>

/** SDN objects by id. */
export interface SdnView {
  readonly zones: Map<string, SdnObject>
  readonly vnets: Map<string, SdnObject>
  readonly subnets: Map<string, SdnObject>
}

/** The SDN configuration: as edited, and as applied. */
export interface SdnState {
  /** The edited configuration. */
  config: SdnView
  /** The configuration that was last applied. */
  running: SdnView
  version: number
  lock: string | undefined
}

/** An empty SDN view. */
export const emptySdn = (): SdnView => ({ zones: new Map(), vnets: new Map(), subnets: new Map() })
