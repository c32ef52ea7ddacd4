import { hashSecret } from "../http/identity.ts"
import { randomHex, randomUuid, seededRandom } from "./random.ts"
import { builtInRoles } from "./roles.ts"
import { emptyHost, emptySdn, type Interface, type NodeState, type State, type StorageState, type User } from "./state.ts"

const GIB = 1024 ** 3

/** Options of a new cluster. */
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
      ["vmbr1000", { ...bridge("192.0.2.254", "", 5), bridge_vlan_aware: 1, bridge_vids: "2-4094" }],
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

/** Creates a new cluster: nodes, storages, root with one token, the pool SHARED; no guests. */
export const initialState = (options: InitialOptions): State => {
  const names = nodeNames(options.nodes)
  const random = seededRandom(options.seed)
  const cluster = names.length > 1
  const disks = cluster
    ? storage("vmstore", "rbd", ["images", "rootdir"], true, { pool: "vmstore", krbd: 0 })
    : storage("local-lvm", "lvmthin", ["images", "rootdir"], false, { thinpool: "data", vgname: "pve" })
  return {
    random,
    clusterName: "lab",
    options: { keyboard: "en-us", mac_prefix: "BC:24:11" },
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
    cpuModels: new Map(),
    sdn: { config: emptySdn(), running: emptySdn(), version: 0, lock: undefined },
    backupJobs: new Map(),
    firewalls: new Map(),
    tasks: new Map(),
    leases: new Map(),
    nextPid: 1000 + Math.floor(Number.parseInt(randomHex(random, 3), 16)),
  }
}

const isHostName = (name: string): boolean => /^[a-z0-9][a-z0-9-]{0,62}$/iu.test(name)

const nodeNames = (nodes: InitialOptions["nodes"]): readonly string[] => {
  const names = nodes === 1 ? ["pve"] : typeof nodes === "number" ? Array.from({ length: nodes }, (_, i) => `pve${i + 1}`) : nodes
  if (names.length === 0 || new Set(names).size < names.length || !names.every(isHostName))
    throw new RangeError(`nodes must be a number from 1, or distinct names of hosts, not ${JSON.stringify(nodes)}`)
  return names
}

/** A secret of a new simulator, derived from its seed. */
export const seededSecret = (seed: number, purpose: string): string => {
  const random = seededRandom(seed ^ [...purpose].reduce((sum, char) => Math.imul(sum, 31) + char.charCodeAt(0), 7))
  return randomUuid(random)
}
