/** An installation as data, and what each action of a migration does to it: the smallest world to test plans on. */
import {
  hostFile,
  type HostNetwork,
  type Installation,
  type InstallationBridge,
  type InstallationMachine,
  type InstallationRange,
  type InstallationVnet,
  type MigrationAction,
  type MigrationOptions,
  type MigrationPlan,
  type MigrationRecord,
  type MigrationStep,
  nicChange,
  type NicText,
  type PendingInterface,
  type RangeId,
  type Vmid,
  type VnetRight,
} from "../src/index.ts"

export const options: MigrationOptions = {
  clusterMode: true,
  zone: "ludus",
  vxlanTagBase: 0,
  natBridge: "vmbr1000",
  natVnet: "ludusnat",
  natGroups: ["users"],
  createZone: false,
}

export const zone = { name: "ludus", type: "vxlan", peers: ["10.0.0.1", "10.0.0.2"], nodes: [], mtu: undefined, state: undefined }

export const node = (name: string, address: string | undefined): Installation["nodes"][number] => ({
  name,
  online: true,
  address,
  missingPackages: [],
  pending: [],
})

export const bridge = (name: string, more: Partial<InstallationBridge> = {}): InstallationBridge => ({
  node: "pve1",
  name,
  ports: [],
  address: undefined,
  settings: { bridge_vlan_aware: true },
  ...more,
})

export const range = (number: number, more: Partial<InstallationRange> = {}): InstallationRange => ({
  id: `LAB${number}` as RangeId,
  number,
  groups: ["admins"],
  ...more,
})

/** `card(0, "vmbr1001", "tag=10")`: net0. */
export const card = (index: number, network: string, ...rest: readonly string[]): NicText => ({
  nic: `net${index}`,
  text: [`virtio=BC:24:11:00:00:0${index % 10}`, `bridge=${network}`, ...rest].join(","),
})

export const machine = (vmid: number, more: Partial<InstallationMachine> = {}): InstallationMachine => ({
  vmid: vmid as Vmid,
  node: "pve1",
  name: `vm${vmid}`,
  kind: "vm",
  template: false,
  pool: undefined,
  tags: [],
  running: true,
  lock: undefined,
  description: "",
  nics: [],
  snapshots: [],
  ...more,
})

/** Two ranges of a first-generation installation on one of two nodes, with the service's own machine and a template. */
export const firstGeneration = (more: Partial<Installation> = {}): Installation => ({
  quorate: true,
  nodes: [node("pve1", "10.0.0.1"), node("pve2", "10.0.0.2")],
  zones: [zone],
  vnets: [],
  otherPending: [],
  bridges: [
    bridge("vmbr0", { ports: ["eno1"], address: "10.0.0.1/24" }),
    bridge("vmbr1000", { address: "192.0.2.254/24" }),
    bridge("vmbr1001"),
    bridge("vmbr1002"),
  ],
  ranges: [range(1), range(2)],
  machines: [
    machine(100, { name: "ADMIN-share", pool: "ADMIN", nics: [card(0, "vmbr1000", "tag=1")] }),
    machine(101, { name: "debian-template", template: true, running: false, pool: "SHARED", nics: [card(0, "vmbr1000")] }),
    machine(110, { name: "LAB1-dc", pool: "LAB1", nics: [card(0, "vmbr1001", "tag=10", "firewall=1")] }),
    machine(111, {
      name: "LAB1-router-debian11-x64",
      pool: "LAB1",
      nics: [card(0, "vmbr1000", "tag=1"), card(1, "vmbr1001", "tag=10")],
    }),
    machine(120, {
      name: "LAB2-kali",
      pool: "LAB2",
      running: false,
      description: `{"groups":[],"rangewright":{"range":"LAB2","machine":"LAB2-kali"}}`,
      nics: [card(0, "vmbr1002", "tag=99")],
    }),
  ],
  rights: [],
  record: undefined,
  ...more,
})

/** A mutable world that shows itself as an installation. */
export class MigrationModel {
  #now: Installation
  /** VMID and card of every write to a card. */
  readonly writes: string[] = []
  applies = 0
  readonly reloads: string[] = []

  constructor(installation: Installation) {
    this.#now = installation
  }

  get installation(): Installation {
    return this.#now
  }

  change(more: Partial<Installation>): void {
    this.#now = { ...this.#now, ...more }
  }

  /** Runs the steps in an order that their edges allow; stops after so many. Returns the keys of those that ran. */
  apply(steps: readonly MigrationStep[], atMost = Number.POSITIVE_INFINITY, pick: () => number = () => 0): readonly string[] {
    const done = new Set<string>()
    while (done.size < Math.min(steps.length, atMost)) {
      const ready = steps.filter((s) => !done.has(s.key) && s.after.every((key) => done.has(key)))
      const step = ready[pick() % Math.max(1, ready.length)]
      if (step === undefined) throw new Error("the steps wait for each other")
      this.#act(step.action)
      done.add(step.key)
    }
    return [...done]
  }

  #editBridges(nodeName: string, edit: PendingInterface, bridges: readonly InstallationBridge[]): void {
    const nodes = this.#now.nodes.map((one) => {
      if (one.name !== nodeName) return one
      const rest = one.pending.filter(({ name }) => name !== edit.name)
      // an edit and its opposite cancel each other
      return { ...one, pending: rest.length < one.pending.length ? rest : [...rest, edit] }
    })
    this.change({ nodes, bridges })
  }

  #editVnet(name: string, vnet: InstallationVnet | undefined): void {
    const rest = this.#now.vnets.filter((one) => one.name !== name)
    this.change({ vnets: vnet === undefined ? rest : [...rest, vnet] })
  }

  #act(action: MigrationAction): void {
    const now = this.#now
    switch (action.kind) {
      case "save-record":
        return this.change({ record: JSON.parse(JSON.stringify(action.record)) as MigrationRecord })
      case "drop-record":
        return this.change({ record: undefined })
      case "create-zone": {
        const { name, peers } = action.zone
        return this.change({ zones: [...now.zones, { ...zone, name, peers, state: "new" }] })
      }
      case "remove-zone":
        return this.change({
          zones: now.zones.map((one) => (one.name === action.zone ? { ...one, state: "deleted" as const } : one)),
        })
      case "create-vnet":
        return this.#editVnet(action.vnet.name, { ...action.vnet, vlanAware: true, state: "new", missingOn: [] })
      case "remove-vnet": {
        const vnet = now.vnets.find(({ name }) => name === action.vnet)
        if (vnet === undefined) return undefined
        return this.#editVnet(action.vnet, vnet.state === "new" ? undefined : { ...vnet, state: "deleted" })
      }
      case "apply-sdn": {
        this.applies += 1
        const gone = new Set(now.vnets.filter(({ state }) => state === "deleted").map(({ name }) => name))
        return this.change({
          zones: now.zones.filter(({ state }) => state !== "deleted").map((one) => ({ ...one, state: undefined })),
          vnets: now.vnets.filter(({ name }) => !gone.has(name)).map((one) => ({ ...one, state: undefined, missingOn: [] })),
          rights: now.rights.filter(({ vnet }) => !gone.has(vnet)),
          nodes: now.nodes.map((one) => ({ ...one, pending: [] })),
        })
      }
      case "grant-vnet": {
        const given = action.groups.map((name): VnetRight => ({ vnet: action.vnet, subject: "group", name }))
        return this.change({ rights: [...now.rights, ...given] })
      }
      case "host-address":
        return this.#changeHost(action.node, (host) => ({
          ...host,
          addresses: [...without(host.addresses, action), { device: action.device, address: action.address }],
          files: { ...host.files, [action.device]: hostFile(action.device, action.address, action.routes) },
        }))
      case "leave-host":
        return this.#changeHost(action.node, (host) => ({
          ...host,
          addresses: without(host.addresses, action),
          files: Object.fromEntries(Object.entries(host.files).filter(([device]) => device !== action.device)),
        }))
      case "range-route": {
        const { device, network, router: via } = action
        const own = [
          { network: `${via}/32`, via: undefined, device },
          { network, via, device },
        ]
        return this.#changeHost(action.node, (host) => ({
          ...host,
          routes: [...host.routes.filter((one) => own.every((route) => route.network !== one.network)), ...own],
        }))
      }
      case "bridge-address":
        return this.#editBridges(
          action.node,
          { name: action.bridge, change: "changed" },
          now.bridges.map((one) =>
            one.node === action.node && one.name === action.bridge ? { ...one, address: action.address } : one,
          ),
        )
      case "verify-networks":
        for (const { network, nodes } of action.networks) for (const on of nodes) this.#demandUsable(network, on)
        return undefined
      case "move-nics":
        return this.change({
          machines: now.machines.map((one) => (one.vmid === action.vmid ? this.#moved(one, action) : one)),
        })
      case "create-bridge":
        return this.#editBridges(action.bridge.node, { name: action.bridge.name, change: "added" }, [
          ...now.bridges,
          action.bridge,
        ])
      case "remove-bridge":
        return this.#editBridges(
          action.node,
          { name: action.bridge, change: "removed" },
          now.bridges.filter(({ node: on, name }) => on !== action.node || name !== action.bridge),
        )
      case "revert-network": {
        const back = (now.record?.bridges ?? []).filter(
          ({ node: at, name }) => at === action.node && action.bridges.includes(name),
        )
        const nodes = now.nodes.map((one) => (one.name === action.node ? { ...one, pending: [] } : one))
        return this.change({ nodes, bridges: [...now.bridges, ...back] })
      }
      case "reload-network":
        this.reloads.push(action.node)
        this.#adoptAddresses(action.node)
        return this.change({ nodes: now.nodes.map((one) => (one.name === action.node ? { ...one, pending: [] } : one)) })
      case "verify-machines":
        return undefined
    }
  }

  #changeHost(name: string, change: (host: HostNetwork) => HostNetwork): void {
    const nodes = this.#now.nodes.map((one) =>
      one.name === name && one.host?.type === "seen" ? { ...one, host: change(one.host) } : one,
    )
    this.change({ nodes })
  }

  /** A reload gives bridges the configured addresses, and removes all others. */
  #adoptAddresses(name: string): void {
    const bridges = this.#now.bridges.filter((one) => one.node === name)
    const names = new Set(bridges.map((one) => one.name))
    this.#changeHost(name, (host) => ({
      ...host,
      addresses: [
        ...host.addresses.filter(({ device }) => !names.has(device)),
        ...bridges.flatMap(({ name: device, address }) => (address === undefined ? [] : [{ device, address }])),
      ],
    }))
  }

  #demandUsable(network: string, on: string): void {
    const vnet = this.#now.vnets.find(({ name }) => name === network)
    const usable =
      vnet === undefined
        ? this.#now.bridges.some(({ node: at, name }) => at === on && name === network)
        : vnet.state === undefined && !vnet.missingOn.includes(on)
    if (!usable) throw new Error(`${network} is not usable on ${on}`)
  }

  #moved(one: InstallationMachine, { nics }: Extract<MigrationAction, { kind: "move-nics" }>): InstallationMachine {
    const moves = new Map(nics.map((move) => [move.nic, move]))
    const cards = (one.nics ?? []).map((now) => {
      const move = moves.get(now.nic)
      if (move === undefined) return now
      const change = nicChange(now.text, move)
      if (change.type === "elsewhere") throw new Error(`${now.nic} of VM ${one.vmid} is elsewhere`)
      if (change.type === "there") return now
      this.#demandUsable(move.to, one.node)
      this.writes.push(`${one.vmid} ${now.nic}`)
      return { nic: now.nic, text: change.text }
    })
    return { ...one, nics: cards }
  }
}

const without = (addresses: HostNetwork["addresses"], gone: HostNetwork["addresses"][number]): HostNetwork["addresses"] =>
  addresses.filter(({ device, address }) => device !== gone.device || address !== gone.address)

/** The first generation's gateway as its shell shows it: the address on the outside bridge, and routes to both ranges. */
export const gatewayHost: HostNetwork = {
  type: "seen",
  addresses: [
    { device: "vmbr0", address: "10.0.0.1/24" },
    { device: "vmbr1000", address: "192.0.2.254/24" },
  ],
  routes: [1, 2].map((number) => ({ network: `10.${number}.0.0/16`, via: `192.0.2.${100 + number}`, device: "vmbr1000" })),
  files: {},
}

export const keysOf = (plan: Pick<MigrationPlan, "steps">): readonly string[] => plan.steps.map(({ key }) => key)
