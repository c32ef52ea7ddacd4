import type { RangeId } from "../access/ids.ts"
import { gatewayAddress, machineAddress, natHost, networkComment, networkName, wanAddress } from "../network/addressing.ts"
import { type MachineConfig, type RangeConfig, renderName } from "../range/config/index.ts"
import { machineGroups, routerGroups } from "../range/groups.ts"
import { type Disguise, disguisedNic } from "../machine/disguise.ts"
import { routerTag } from "../machine/router.ts"
import type { GuestOs, NetworkSpec } from "./action.ts"
import { type DesiredStage, isManaged, machineStages, routerStages } from "./desired-stages.ts"
import type { DeployInput } from "./input.ts"
import { roleKey } from "./stage-keys.ts"
import { disguiseOf, stageContext, type StageContext } from "./stage-context.ts"

/** A network card as the configuration wants it; index and MAC address depend on the VM. */
export interface DesiredNic {
  readonly bridge: string
  readonly tag: number
  readonly model: "virtio" | "e1000" | "e1000e"
}

/** A machine as the configuration wants it: everything about it that does not depend on the world. */
export interface DesiredMachine {
  /** Its name on the hypervisor, which is its identity in the range. */
  readonly name: string
  readonly hostname: string
  readonly isRouter: boolean
  readonly template: string
  readonly os: GuestOs
  readonly cpus: number
  readonly memoryMiB: number
  readonly balloonMiB: number | undefined
  /** A full clone, instead of a disk that shares the template's. */
  readonly full: boolean
  /** The router's outer card comes first. */
  readonly nics: readonly DesiredNic[]
  /** The address it ends up with; a router's is its outer one. */
  readonly address: string
  readonly gateway: string
  readonly groups: readonly string[]
  readonly tags: readonly string[]
  readonly targetNode: string | undefined
  /** False: nothing waits for its guest agent, and only roles run in it. */
  readonly managed: boolean
  /** The computer that it is disguised as; undefined: none. */
  readonly disguise: Disguise | undefined
  /** In the order in which they run, one at a time. */
  readonly stages: readonly DesiredStage[]
}

/** The state that a configuration asks for. */
export interface DesiredRange {
  readonly id: RangeId
  readonly network: NetworkSpec
  /** The router first, then in the order of the file. */
  readonly machines: readonly DesiredMachine[]
  /** Keys of all roles in the order of the file, the router's first, each after those that it depends on. */
  readonly roles: readonly string[]
}

/** Tag on every VM of ours, for people who look at the hypervisor. */
export const ownTag = "rangewright"

/** The network of a range. `node`: where a bridge is; a VNet is everywhere. */
export const networkOf = (
  range: Pick<DeployInput["range"], "id" | "number">,
  settings: DeployInput["settings"],
  node: string,
): NetworkSpec => {
  const name = networkName(range.number, settings.clusterMode)
  const comment = networkComment(range.id)
  return settings.clusterMode
    ? { type: "vnet", name, zone: settings.sdnZone, tag: settings.vxlanTagBase + range.number, alias: comment }
    : { type: "bridge", name, node, comment }
}

/** Names of the machines that the configuration asks for, the router first: each needs a reserved VMID before `planDeploy`. */
export const machineNames = (rangeId: RangeId, config: RangeConfig): readonly string[] =>
  [config.router.name, ...config.machines.map((m) => m.name)].map((name) => renderName(name, { rangeId }))

/** The desired state. `node` is where the bridge of a single-node installation goes. */
export const desiredRange = (input: DeployInput, node: string): DesiredRange => {
  const context = stageContext(input)
  return {
    id: input.range.id,
    network: networkOf(input.range, input.settings, node),
    machines: [desiredRouter(context), ...input.config.machines.map((m) => desiredMachine(context, m))],
    roles: context.roles.map(({ machine, role }) => roleKey(machine, role)),
  }
}

const mebibytes = (gibibytes: number): number => Math.round(gibibytes * 1024)

/** Old virtual hardware for guests that look for signs of virtualization. */
export const nicModel = (template: string): DesiredNic["model"] => (template.includes("antisandbox") ? "e1000" : "virtio")

const desiredRouter = (context: StageContext): DesiredMachine => {
  const { range, config, settings } = context.input
  const { router } = config
  const bridge = networkName(range.number, settings.clusterMode)
  const common = {
    name: context.routerName,
    hostname: `${range.id.replaceAll(/[/_]/gu, "-")}-router`,
    os: "linux",
    address: wanAddress(range.number),
  } as const
  return {
    ...common,
    isRouter: true,
    template: router.template,
    cpus: router.cpus,
    memoryMiB: mebibytes(router.ramGb),
    balloonMiB: router.ramMinGb === undefined ? undefined : mebibytes(router.ramMinGb),
    full: false,
    nics: [
      { bridge: settings.natNetwork, tag: 1, model: "virtio" },
      ...context.legs.map((tag): DesiredNic => ({ bridge, tag, model: "virtio" })),
    ],
    gateway: natHost,
    groups: routerGroups(range.id),
    tags: [ownTag, routerTag],
    targetNode: router.targetNode === undefined ? undefined : context.nameOf(router.targetNode),
    managed: true,
    disguise: undefined,
    stages: routerStages(context, common.hostname),
  }
}

const desiredMachine = (context: StageContext, machine: MachineConfig): DesiredMachine => {
  const { range, settings } = context.input
  const { nameOf } = context
  const disguise = disguiseOf(context, machine)
  return {
    name: nameOf(machine.name),
    hostname: nameOf(machine.hostname),
    isRouter: false,
    template: machine.template,
    os: machine.os.kind,
    cpus: machine.cpus,
    memoryMiB: mebibytes(machine.ramGb),
    // no real computer has a balloon device
    balloonMiB: disguise !== undefined ? 0 : machine.ramMinGb === undefined ? undefined : mebibytes(machine.ramMinGb),
    full: machine.clone === "full",
    nics: [
      {
        bridge: networkName(range.number, settings.clusterMode),
        tag: machine.vlan,
        model: disguise === undefined ? nicModel(machine.template) : disguisedNic,
      },
    ],
    address: machineAddress(range.number, machine.vlan, machine.octet),
    gateway: gatewayAddress(range.number, machine.vlan),
    groups: machineGroups(range.id, machine),
    tags: [ownTag],
    targetNode: machine.targetNode === undefined ? undefined : nameOf(machine.targetNode),
    managed: isManaged(context, machine),
    disguise,
    stages: machineStages(context, machine),
  }
}
