/** An installation of the first generation in the simulator: ranges on bridges of one node of a cluster, made without our own code. */
import type { Simulator } from "@rangewright/pve-simulator"
import type { InstallationRange, RangeId } from "@rangewright/domain"

type Guest = NonNullable<ReturnType<Simulator["guest"]>>

export interface FirstGeneration {
  /** The number of ranges. */
  readonly ranges: number
  readonly nodes: readonly string[]
  /** Machines in a range, including its router: 3 to 10. Default 3. */
  readonly machines?: number
  /** Whether every other machine carries our mark. */
  readonly marked: boolean
}

const note = (range: number, name: string, marked: boolean): string =>
  JSON.stringify({ groups: [`range${range}`], ...(marked ? { rangewright: { range: `LAB${range}`, machine: name } } : {}) })

/** Machines of a range besides its router and the first two. */
const others = (range: number, count: number, mac: (vm: number, nic: number) => string) =>
  Array.from({ length: Math.max(0, count - 3) }, (_, at) => ({
    vmid: 3000 + range * 10 + 3 + at,
    name: `LAB${range}-m${at}`,
    nets: [`virtio=${mac(3 + at, 0)},bridge=vmbr${1000 + range},tag=10`],
  }))

interface Machine {
  readonly vmid: number
  readonly name: string
  readonly nets: readonly string[]
}

/** The machines of a range: its router, then the others; at most ten. */
export const machinesOf = (range: number, count = 3): readonly Machine[] => {
  const bridge = `vmbr${1000 + range}`
  const mac = (vm: number, nic: number): string => `BC:24:11:00:${range.toString(16).padStart(2, "0")}:${vm}${nic}`.toUpperCase()
  const first = 3000 + range * 10
  return [
    {
      vmid: first,
      name: `LAB${range}-router-debian11-x64`,
      nets: [
        `virtio=${mac(0, 0)},bridge=vmbr1000,tag=1`,
        `virtio=${mac(0, 1)},bridge=${bridge},tag=10`,
        `virtio=${mac(0, 2)},bridge=${bridge},tag=20`,
      ],
    },
    { vmid: first + 1, name: `LAB${range}-dc`, nets: [`virtio=${mac(1, 0)},bridge=${bridge},firewall=1,tag=10`] },
    { vmid: first + 2, name: `LAB${range}-kali`, nets: [`e1000=${mac(2, 0)},bridge=${bridge},rate=50,tag=20`] },
    ...others(range, count, mac),
  ]
}

export const rangesOf = (count: number): readonly InstallationRange[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `LAB${at + 1}` as RangeId,
    number: at + 1,
    groups: ["ludus_admins"],
  }))

/** A machine without disks that has been running for a long time. */
const running = (vmid: number, node: string, config: Guest["config"]): Guest => ({
  vmid,
  node,
  config,
  pending: {},
  snapshots: new Map(),
  parent: undefined,
  status: "running",
  paused: false,
  pid: vmid,
  startedAt: 0,
  boot: { kind: "up", since: 0 },
  os: undefined,
  execs: new Map(),
  nextExec: 1000,
  changedAt: 0,
  reported: undefined,
})

/** Creates the ranges: bridges in force, machines in their pools and running. Range n is on the node n modulo their number. */
export const installFirstGeneration = (sim: Simulator, { ranges, nodes, machines = 3, marked }: FirstGeneration): void => {
  const { state } = sim
  for (let range = 1; range <= ranges; range++) {
    const node = nodes[(range - 1) % nodes.length]!
    const bridges = state.nodes.get(node)!.interfaces
    bridges.set(`vmbr${1000 + range}`, {
      type: "bridge",
      active: 1,
      autostart: 1,
      bridge_ports: "",
      bridge_stp: "off",
      bridge_fd: "0",
      bridge_vlan_aware: 1,
      bridge_vids: "2-4094",
      priority: 10 + range,
    })
    state.pools.set(`LAB${range}`, { poolid: `LAB${range}`, comment: undefined, vms: new Set(), storages: new Set() })
    for (const [index, { vmid, name, nets }] of machinesOf(range, machines).entries()) {
      const net = Object.fromEntries(nets.map((value, nic) => [`net${nic}`, value]))
      const config = {
        name,
        cores: 1,
        memory: "512",
        ostype: "l26",
        description: note(range, name, marked && index % 2 === 0),
        ...net,
      }
      state.guests.set(vmid, running(vmid, node, config))
      state.pools.get(`LAB${range}`)!.vms.add(vmid)
    }
  }
}

/** The network cards of every machine, by VMID. */
export const cardsOf = (sim: Simulator): Readonly<Record<number, readonly string[]>> =>
  Object.fromEntries(
    [...sim.state.guests.values()]
      .filter(({ vmid }) => vmid >= 3000 && vmid < 6000)
      .map(({ vmid, config }) => [
        vmid,
        Object.keys(config)
          .filter((key) => /^net\d+$/u.test(key))
          .toSorted()
          .map((key) => `${key}: ${config[key]}`),
      ]),
  )
