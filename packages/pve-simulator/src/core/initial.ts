import { newIdentity, newGuest } from "./new-guest.ts"
import { toTemplate } from "./new-guest.ts"
import { hashSecret } from "../http/identity.ts"
import { randomHex, randomMac, randomUuid, seededRandom } from "./random.ts"
import { builtInRoles } from "./roles.ts"
import {
  emptyHost,
  emptySdn,
  type GuestOs,
  type Interface,
  type NodeState,
  type State,
  type StorageState,
  type User,
} from "./state.ts"
import { allocate } from "./volumes.ts"
import type { World } from "./world.ts"

const GIB = 1024 ** 3

/** A template that stands ready in pool SHARED. */
export interface TemplateSpec {
  readonly name: string
  readonly ostype: string
  readonly cores: number
  readonly memoryMb: number
  readonly diskGib: number
  /** How much of the disk is written; a full clone copies that. */
  readonly usedGib: number
  readonly os: Pick<GuestOs, "family" | "prettyName" | "id" | "version"> & { readonly user: string }
}

const linux = (id: string, prettyName: string, version: string, user: string): TemplateSpec["os"] => ({
  family: "linux",
  id,
  prettyName,
  version,
  user,
})
const windows = (prettyName: string, version: string): TemplateSpec["os"] => ({
  family: "windows",
  id: "mswindows",
  prettyName,
  version,
  user: "localuser",
})

/** The templates that a lab service ships. */
export const shippedTemplates: readonly TemplateSpec[] = [
  {
    name: "debian-11-x64-server-template",
    ostype: "l26",
    cores: 2,
    memoryMb: 4096,
    diskGib: 200,
    usedGib: 3,
    os: linux("debian", "Debian GNU/Linux 11 (bullseye)", "11", "debian"),
  },
  {
    name: "debian-12-x64-server-template",
    ostype: "l26",
    cores: 2,
    memoryMb: 4096,
    diskGib: 200,
    usedGib: 3,
    os: linux("debian", "Debian GNU/Linux 12 (bookworm)", "12", "debian"),
  },
  {
    name: "kali-x64-desktop-template",
    ostype: "l26",
    cores: 4,
    memoryMb: 8192,
    diskGib: 250,
    usedGib: 16,
    os: linux("kali", "Kali GNU/Linux Rolling", "2025.4", "kali"),
  },
  {
    name: "win11-22h2-x64-enterprise-template",
    ostype: "win11",
    cores: 2,
    memoryMb: 4096,
    diskGib: 250,
    usedGib: 22,
    os: windows("Windows 11 Enterprise Evaluation", "11"),
  },
  {
    name: "win2022-server-x64-template",
    ostype: "win11",
    cores: 4,
    memoryMb: 8192,
    diskGib: 250,
    usedGib: 18,
    os: windows("Windows Server 2022 Standard Evaluation", "2022"),
  },
]

/** What a fresh cluster is made of. */
export interface InitialOptions {
  readonly nodes: number | readonly string[]
  readonly seed: number
  readonly now: number
  readonly rootPassword: string
  readonly rootTokenSecret: string
  /** Processor threads and GiB of memory of each node. */
  readonly cores: number
  readonly memoryGib: number
}

const bridge = (address: string | undefined, ports: string, priority: number): Interface => ({
  type: "bridge",
  active: 1,
  autostart: 1,
  bridge_ports: ports,
  bridge_stp: "off",
  bridge_fd: "0",
  ...(address === undefined ? {} : { cidr: `${address}/24`, address, netmask: "24" }),
  priority,
})

const node = (name: string, index: number, options: InitialOptions): NodeState => {
  const address = `10.0.0.${11 + index}`
  return {
    name,
    id: index + 1,
    address,
    cores: options.cores,
    memoryBytes: options.memoryGib * GIB,
    bootedAt: options.now - 5000,
    interfaces: new Map<string, Interface>([
      ["eno1", { type: "eth", active: 1, exists: 1, priority: 3 }],
      ["vmbr0", { ...bridge(address, "eno1", 4), gateway: "10.0.0.1" }],
      ["vmbr1000", bridge("192.0.2.254", "", 5)],
    ]),
    pendingInterfaces: undefined,
    vnets: new Set(),
    sdnVersion: 0,
    host: emptyHost(),
    dns: { search: "lab.example", dns1: "10.0.0.1" },
    timezone: "UTC",
    tasks: [],
  }
}

const storage = (
  id: string,
  type: string,
  content: string[],
  shared: boolean,
  options: Record<string, string | number>,
): StorageState => ({
  id,
  type,
  content,
  shared,
  nodes: [],
  disabled: false,
  options,
  capacityBytes: 4096 * GIB,
  volumes: new Map(),
  full: false,
})

const rootUser = (options: InitialOptions): User => ({
  userid: "root@pam",
  enabled: true,
  expire: 0,
  comment: undefined,
  email: undefined,
  firstname: undefined,
  lastname: undefined,
  keys: undefined,
  password: { salt: "root", hash: hashSecret("root", options.rootPassword) },
  tokens: new Map([
    [
      "simulator",
      {
        tokenid: "simulator",
        privsep: false,
        expire: 0,
        comment: "made at start",
        hash: hashSecret("token", options.rootTokenSecret),
      },
    ],
  ]),
})

/** A fresh cluster: nodes, storages, root with one token, the pool SHARED; no guests. */
export const initialState = (options: InitialOptions): State => {
  const names = typeof options.nodes === "number" ? nodeNames(options.nodes) : options.nodes
  const random = seededRandom(options.seed)
  const cluster = names.length > 1
  const disks = cluster
    ? storage("vmstore", "rbd", ["images", "rootdir"], true, { pool: "vmstore", krbd: 0 })
    : storage("local-lvm", "lvmthin", ["images", "rootdir"], false, { thinpool: "data", vgname: "pve" })
  return {
    random,
    clusterName: "lab",
    nodes: new Map(names.map((name, index) => [name, node(name, index, options)])),
    storages: new Map([
      [
        "local",
        storage("local", "dir", ["iso", "vztmpl", "backup", "snippets", "images", "import"], false, { path: "/var/lib/vz" }),
      ],
      [disks.id, disks],
    ]),
    guests: new Map(),
    access: {
      users: new Map([["root@pam", rootUser(options)]]),
      groups: new Map(),
      roles: new Map(
        Object.entries(builtInRoles).map(([name, privileges]) => [name, { special: true, privileges: new Set(privileges) }]),
      ),
      realms: new Map([
        ["pam", { type: "pam", comment: "Linux PAM standard authentication", default: false }],
        ["pve", { type: "pve", comment: "Proxmox VE authentication server", default: false }],
      ]),
      acl: new Map(),
      secret: randomHex(random, 64),
      version: 0,
    },
    pools: new Map([["SHARED", { poolid: "SHARED", comment: "templates", vms: new Set(), storages: new Set() }]]),
    ha: new Map(),
    haRules: new Map(),
    sdn: { config: emptySdn(), running: emptySdn(), version: 0, lock: undefined },
    tasks: new Map(),
    leases: new Map(),
    nextPid: 1000 + Math.floor(Number.parseInt(randomHex(random, 3), 16)),
  }
}

const nodeNames = (count: number): string[] => (count === 1 ? ["pve"] : Array.from({ length: count }, (_, i) => `pve${i + 1}`))

/** Puts templates on the first node's view of the guest storage (shared in a cluster), from VMID `firstVmid` on. */
export const buildTemplates = (world: World, templates: readonly TemplateSpec[], firstVmid: number): void => {
  const home = [...world.state.nodes.keys()][0]!
  const disks = world.state.storages.get("vmstore") ?? world.state.storages.get("local-lvm")!
  templates.forEach((spec, index) => {
    const vmid = firstVmid + index
    const volume = allocate(world, {
      storage: disks,
      node: home,
      vmid,
      sizeBytes: spec.diskGib * GIB,
      usedBytes: spec.usedGib * GIB,
      format: "raw",
      purpose: "disk",
    })
    const guest = newGuest(world, vmid, home, {
      name: spec.name,
      agent: "1",
      boot: "order=virtio0;net0",
      cores: spec.cores,
      cpu: "host",
      description: "",
      memory: String(spec.memoryMb),
      net0: `virtio=${randomMac(world.state.random)},bridge=vmbr1000`,
      ostype: spec.ostype,
      scsihw: "virtio-scsi-single",
      virtio0: `${volume.volid},discard=on,iothread=1,size=${spec.diskGib}G`,
      ...newIdentity(world),
    })
    guest.os = systemOf(spec)
    guest.changedAt = 0
    toTemplate(world, guest)
    world.state.guests.set(vmid, guest)
    world.state.pools.get("SHARED")!.vms.add(vmid)
  })
}

const systemOf = (spec: TemplateSpec): GuestOs => ({
  family: spec.os.family,
  prettyName: spec.os.prettyName,
  id: spec.os.id,
  version: spec.os.version,
  hostname: spec.name,
  users: [spec.os.user],
  sessions: [],
  addresses: {},
  stages: {},
  roles: [],
  applied: {},
  files: {},
})

/** A secret of a fresh simulator, from its seed. */
export const seededSecret = (seed: number, purpose: string): string => {
  const random = seededRandom(seed ^ [...purpose].reduce((sum, char) => Math.imul(sum, 31) + char.charCodeAt(0), 7))
  return randomUuid(random)
}
