/** A small world that plans are applied to, step by step. It refuses every step that a real one would have to refuse. */
import * as Result from "effect/Result"
import {
  type Action,
  carriesMark,
  descriptionWith,
  type DeployChoice,
  type DeployInput,
  type Grant,
  machineNames,
  type MachineDetail,
  type ObservedMachine,
  type ObservedNode,
  type ObservedStorage,
  type Plan,
  planDeploy,
  predecessors,
  type PlanIssue,
  type PlanSettings,
  type PlanWorld,
  type RangeConfig,
  type RangeId,
  stageFingerprint,
  type Step,
  type UserId,
  type Vmid,
  wholeDeploy,
} from "../src/index.ts"

export const lab = "LAB" as RangeId
export const range = { id: lab, number: 7, testing: { mode: "off", allowedDomains: [], allowedIps: [] } } as const

export const settings: PlanSettings = {
  clusterMode: false,
  sdnZone: "ludus",
  vxlanTagBase: 100,
  natNetwork: "vmbr1000",
  defaultNode: undefined,
  vmStorage: undefined,
  guestsLeftOut: false,
  protectedAddresses: ["10.0.0.2"],
}

export const everything = wholeDeploy

export const grant = (userId: string, userNumber: number): Grant => ({
  userId: userId as UserId,
  userNumber,
  name: userId,
  rangeId: lab,
  accessType: "Direct",
})

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
interface Vm {
  machine: Mutable<ObservedMachine>
  detail: Mutable<MachineDetail>
}

const node = (name: string): ObservedNode => ({
  name,
  online: true,
  cpus: 32,
  cpuLoad: 0.1,
  memoryMiB: 262_144,
  memoryUsedMiB: 16_384,
})
const storage = (name: string, on: string, shared: boolean): ObservedStorage => ({
  name,
  node: on,
  type: shared ? "rbd" : "lvmthin",
  shared,
  active: true,
  totalBytes: 2 ** 42,
  usedBytes: 2 ** 40,
  content: ["images"],
})

export interface ModelOptions {
  readonly nodes?: readonly string[]
  readonly templates: readonly string[]
  /** False: each template has its disk on a storage of one node, by turns. */
  readonly shared?: boolean
}

export class ModelWorld {
  nodes: ObservedNode[]
  storages: ObservedStorage[]
  vms = new Map<Vmid, Vm>()
  networks = new Map<string, { name: string; node: string | undefined; usable: boolean; ours: boolean }>()
  pools = new Set<string>()
  addresses = new Map<Vmid, string>()
  foreignAddresses = new Map<Vmid, readonly string[]>()
  stages = new Map<Vmid, Map<string, string>>()
  reservations = new Map<string, Vmid>()
  clones = 0

  constructor({ nodes = ["pve1"], templates, shared = true }: ModelOptions) {
    this.nodes = nodes.map(node)
    this.storages = nodes.flatMap((n) => [storage("vmstore", n, true), storage("local-lvm", n, false)])
    templates.forEach((name, i) =>
      this.add({
        vmid: 100 + i,
        name,
        node: nodes[shared ? 0 : i % nodes.length]!,
        template: true,
        pool: "SHARED",
        storage: shared ? "vmstore" : "local-lvm",
      }),
    )
  }

  /** Adds an existing VM. */
  add(vm: {
    vmid: number
    name: string
    node?: string
    template?: boolean
    pool?: string
    storage?: string
    description?: string
    power?: ObservedMachine["power"]
    tags?: readonly string[]
  }): void {
    const vmid = vm.vmid as Vmid
    const common = { vmid, node: vm.node ?? this.nodes[0]!.name, name: vm.name, template: vm.template ?? false }
    this.vms.set(vmid, {
      machine: { ...common, power: vm.power ?? "stopped", pool: vm.pool, cpus: 1, memoryMiB: 512, tags: vm.tags ?? [] },
      detail: {
        ...common,
        description: vm.description ?? "",
        tags: vm.tags ?? [],
        cpus: 1,
        memoryMiB: 512,
        balloonMiB: undefined,
        nics: [],
        lock: undefined,
        digest: undefined,
        storage: vm.storage ?? "vmstore",
      },
    })
  }

  reserve(names: readonly string[]): void {
    for (const name of names)
      if (!this.reservations.has(name)) this.reservations.set(name, (20_000 + this.reservations.size) as Vmid)
  }

  view(): PlanWorld {
    const all = [...this.vms.values()]
    return {
      cluster: {
        at: new Date(0),
        nodes: [...this.nodes],
        storages: this.storages,
        machines: all.map(({ machine }) => ({ ...machine })),
      },
      details: new Map(all.map(({ detail }) => [detail.vmid, { ...detail }])),
      networks: [...this.networks.values()].map((n) => ({ ...n })),
      poolExists: this.pools.has(lab),
      addresses: new Map(this.addresses),
      foreignAddresses: new Map(this.foreignAddresses),
      stages: new Map([...this.stages].map(([vmid, done]) => [vmid, new Map(done)])),
      reservations: new Map(this.reservations),
    }
  }

  vmNamed(name: string): Vm {
    const vm = [...this.vms.values()].find((v) => v.detail.name === name)
    if (vm === undefined) throw new Error(`no VM is named ${name}`)
    return vm
  }

  /** All steps in an order that the plan allows; `pick` chooses among the ready ones. Stops before step number `crashAt`. */
  apply(plan: Plan, pick: (ready: number) => number = () => 0, crashAt = Number.POSITIVE_INFINITY): void {
    const done = new Set<string>()
    let left = [...plan.steps]
    for (let n = 0; left.length > 0 && n < crashAt; n++) {
      const ready = left.filter((s) => predecessors(s).every((key) => done.has(key)))
      const step = ready[pick(ready.length) % ready.length]
      if (step === undefined) throw new Error(`nothing is ready of ${left.map((s) => s.key).join(", ")}`)
      this.run(step)
      done.add(step.key)
      left = left.filter((s) => s !== step)
    }
  }

  run({ action, key }: Step): void {
    if ("machine" in action && action.kind !== "clone") this.owned(action)
    switch (action.kind) {
      case "create-pool":
        this.pools.add(action.poolId)
        return
      case "remove-pool":
        if ([...this.vms.values()].some((v) => v.machine.pool === action.poolId)) throw new Error("the pool is not empty")
        this.pools.delete(action.poolId)
        return
      case "create-network": {
        const { network } = action
        const on = network.type === "bridge" ? network.node : undefined
        this.networks.set(network.name, { name: network.name, node: on, usable: true, ours: true })
        return
      }
      case "remove-network":
        this.networks.delete(action.network.name)
        return
      case "record-testing":
      case "record-disguises":
        throw new Error(`the plan of a range has ${key}`)
      case "grant-access":
        if (!this.pools.has(action.rangeId)) throw new Error("there is no pool to grant")
        return
      case "clone":
        return this.clone(action)
      case "configure":
        return this.configure(action)
      case "start":
        this.owned(action).machine.power = "running"
        return
      case "stop":
      case "shutdown":
        this.owned(action).machine.power = "stopped"
        return
      case "delete": {
        if (this.owned(action).machine.power !== "stopped") throw new Error("a VM that runs cannot be deleted")
        const { vmid } = action.machine
        this.vms.delete(vmid)
        this.stages.delete(vmid)
        this.addresses.delete(vmid)
        return
      }
      case "await-address":
        return
      case "guest":
        return this.guest(action, key)
      case "take-snapshot":
      case "roll-back":
      case "remove-snapshot":
      case "refuse":
        throw new Error(`no plan of a deploy or a removal has this: ${action.kind}`)
      case "work":
        throw new Error(`no plan of a range has work of another kind: ${action.work}`)
    }
  }

  private owned(action: Extract<Action, { readonly machine: unknown }>): Vm {
    const { vmid, mark, node: on } = action.machine
    const vm = this.vms.get(vmid)
    if (vm === undefined) throw new Error(`${action.kind}: VM ${vmid} does not exist`)
    if (vm.machine.template || !carriesMark(vm.detail.description, mark))
      throw new Error(`${action.kind}: VM ${vmid} is not ours`)
    if (vm.machine.node !== on) throw new Error(`${action.kind}: VM ${vmid} is on ${vm.machine.node}, not on ${on}`)
    return vm
  }

  private clone(action: Extract<Action, { readonly kind: "clone" }>): void {
    const { vmid, node: on } = action.machine
    if (this.vms.has(vmid)) throw new Error(`VM ${vmid} exists already`)
    const source = this.vms.get(action.template.vmid)
    if (source?.machine.template !== true) throw new Error(`VM ${action.template.vmid} is no template`)
    const shared = this.storages.some((s) => s.name === source.detail.storage && s.shared)
    if (source.machine.node !== on && !shared) throw new Error(`${action.template.name} cannot be cloned to ${on}`)
    if (!this.pools.has(action.pool)) throw new Error("there is no pool to clone into")
    this.clones += 1
    this.add({ vmid, name: action.name, node: on, pool: action.pool, description: action.description })
  }

  private configure(action: Extract<Action, { readonly kind: "configure" }>): void {
    const { detail, machine } = this.owned(action)
    const { cpus, memoryMiB, balloonMiB, nics, tags } = action.settings
    const description = descriptionWith(action.settings.description, detail.description) ?? detail.description
    const hardware = detail.cpus !== cpus || detail.memoryMiB !== memoryMiB
    if (hardware && machine.power === "running") throw new Error("cores and memory change only while the VM is off")
    const cards = (all: MachineDetail["nics"]) => all.map(({ index, model, mac }) => `${index} ${model} ${mac}`).join()
    if (detail.coldCards === true && machine.power === "running" && cards(nics) !== cards(detail.nics))
      throw new Error("the VM's cards change only while it is off")
    for (const nic of nics)
      if (nic.bridge !== settings.natNetwork && this.networks.get(nic.bridge)?.usable !== true)
        throw new Error(`there is no network ${nic.bridge}`)
    Object.assign(detail, { cpus, memoryMiB, balloonMiB, nics, description, tags })
    Object.assign(machine, { cpus, memoryMiB, tags })
  }

  private guest(action: Extract<Action, { readonly kind: "guest" }>, key: string): void {
    const { vmid } = action.machine
    const { machine, detail } = this.owned(action)
    if (machine.power !== "running") throw new Error(`${key}: the machine is off`)
    if (detail.nics.length === 0) throw new Error(`${key}: the machine is not configured`)
    const done = this.stages.get(vmid) ?? new Map<string, string>()
    this.stages.set(vmid, done.set(key, stageFingerprint(action.input)))
    const input = action.input as { readonly address?: string }
    if (action.stage === "address" || action.stage === "router") this.addresses.set(vmid, input.address!.split("/")[0]!)
  }
}

export const inputFor = (
  world: ModelWorld,
  config: RangeConfig,
  choice: Partial<DeployChoice> = {},
  more: Partial<DeployInput> = {},
): DeployInput => {
  world.reserve(machineNames(lab, config))
  return {
    range,
    config,
    grants: [grant("ANNA", 2), grant("BEN", 3)],
    settings,
    choice: { ...everything, ...choice },
    ...more,
    world: world.view(),
  }
}

export const planned = (input: DeployInput): Plan => {
  const plan = planDeploy(input)
  if (Result.isFailure(plan)) throw new Error(`refused: ${plan.failure.map((i) => i.message).join("; ")}`)
  return plan.success
}

export const refusal = (input: DeployInput): readonly PlanIssue[] => {
  const plan = planDeploy(input)
  if (Result.isSuccess(plan)) throw new Error("planned")
  return plan.failure
}

export const keysOf = (plan: Plan): readonly string[] => plan.steps.map((s) => s.key)
export const networksRemovedBy = (plan: Plan): readonly string[] =>
  plan.steps.flatMap(({ action }) => (action.kind === "remove-network" ? [`${action.network.type} ${action.network.name}`] : []))
export const stepOf = (plan: Plan, key: string): Step => {
  const step = plan.steps.find((s) => s.key === key)
  if (step === undefined) throw new Error(`no step ${key} among ${keysOf(plan).join(", ")}`)
  return step
}
/** Whether `first` is over before `then` starts, by the edges of the plan. */
export const isBefore = (plan: Plan, first: string, then: string): boolean =>
  predecessors(stepOf(plan, then)).some((key) => key === first || isBefore(plan, first, key))
