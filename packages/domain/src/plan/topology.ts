import type { RangeId } from "../access/ids.ts"
import type { PowerState } from "../machine/observed.ts"
import { gatewayAddress, machineAddress, vlanNetwork, wanAddress } from "../network/addressing.ts"
import {
  type DomainConfig,
  type Endpoint,
  type FirewallAction,
  type FirewallRule,
  type MachineConfig,
  type OsKind,
  type RangeConfig,
  renderName,
} from "../range/config/index.ts"

/** What is known about a machine now. */
export interface SeenNow {
  readonly vmid?: number
  readonly name: string
  readonly power: PowerState
  /** As the guest reports it. */
  readonly address: string | undefined
  readonly isRouter?: boolean
  readonly missingSince?: Date | undefined
}

export interface TopologyMachine {
  readonly name: string
  /** Absent: it does not exist yet. */
  readonly vmid?: number
  readonly power: PowerState | "absent"
  /** As the guest reports it. */
  readonly address?: string
  /** The address that it is to have; absent: the configuration does not name the machine. */
  readonly configured?: string
  readonly os?: OsKind
  readonly template?: string
  readonly domain?: DomainConfig
  readonly missingSince?: string
}

export interface TopologyLane {
  /** Absent: the network of these machines is unknown. */
  readonly vlan?: number
  readonly network?: string
  readonly gateway?: string
  readonly machines: readonly TopologyMachine[]
}

export interface TopologyRule {
  readonly name: string
  readonly from: string
  readonly to: string
  readonly protocol: string
  readonly ports: string
  readonly verdict: FirewallAction
}

/** The network of a range, as its picture and its text show it. */
export interface Topology {
  readonly router: TopologyMachine
  /** By VLAN; machines whose VLAN is unknown are last. */
  readonly lanes: readonly TopologyLane[]
  /** In the order of the configuration: where several match, the last one decides. */
  readonly rules: readonly TopologyRule[]
  /** What applies when no rule matches. */
  readonly defaults?: { readonly betweenVlans: FirewallAction; readonly outside: FirewallAction; readonly vpn: FirewallAction }
}

const lastOctet = (address: string | undefined): number => Number(address?.slice(address.lastIndexOf(".") + 1)) || 0

const vlanOf = (number: number, address: string | undefined): number | undefined => {
  const [first, second, third, ...rest] = (address ?? "").split(".")
  return first === "10" && second === String(number) && rest.length === 1 && third !== undefined ? Number(third) : undefined
}

const seenPart = (seen: SeenNow | undefined): Pick<TopologyMachine, "vmid" | "power" | "address" | "missingSince"> =>
  seen === undefined
    ? { power: "absent" }
    : {
        ...(seen.vmid === undefined ? {} : { vmid: seen.vmid }),
        power: seen.power,
        ...(seen.address === undefined ? {} : { address: seen.address }),
        ...(seen.missingSince === undefined ? {} : { missingSince: seen.missingSince.toISOString() }),
      }

const ofConfig = (machine: MachineConfig, name: string, number: number, seen: SeenNow | undefined): TopologyMachine => ({
  name,
  ...seenPart(seen),
  configured: machineAddress(number, machine.vlan, machine.octet),
  os: machine.os.kind,
  template: machine.template,
  ...(machine.domain === undefined ? {} : { domain: machine.domain }),
})

const zoneText = ({ zone, octets }: Endpoint): string => {
  if (typeof zone !== "number") return { public: "outside", all: "the whole range", wireguard: "VPN clients" }[zone]
  if (octets === undefined) return `VLAN ${zone}`
  return `VLAN ${zone} .${octets.first}${octets.last === octets.first ? "" : `-.${octets.last}`}`
}

const ruleOf = ({ name, source, destination, protocol, ports, action }: FirewallRule): TopologyRule => ({
  name,
  from: zoneText(source),
  to: zoneText(destination),
  protocol,
  ports:
    ports === "all" ? "all" : ports.map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`)).join(", "),
  verdict: action,
})

const byAddress = (a: TopologyMachine, b: TopologyMachine): number =>
  lastOctet(a.configured ?? a.address) - lastOctet(b.configured ?? b.address) || (a.name < b.name ? -1 : 1)

/** Merges the configuration with what exists; includes machines that do not exist yet, and those that the configuration does not name. */
export const topologyOf = (
  config: RangeConfig | undefined,
  range: { readonly id: RangeId; readonly number: number },
  seen: readonly SeenNow[],
): Topology => {
  const { number } = range
  const nameOf = (template: string): string => renderName(template, { rangeId: range.id })
  const routerName = config === undefined ? undefined : nameOf(config.router.name)
  const seenRouter = seen.find(({ isRouter }) => isRouter === true) ?? seen.find(({ name }) => name === routerName)
  const left = new Set(seen.filter((machine) => machine !== seenRouter))
  const lanes = new Map<number | undefined, TopologyMachine[]>()
  const put = (vlan: number | undefined, machine: TopologyMachine): void => {
    const lane = lanes.get(vlan)
    if (lane === undefined) lanes.set(vlan, [machine])
    else lane.push(machine)
  }
  for (const machine of config?.machines ?? []) {
    const name = nameOf(machine.name)
    const its = [...left].find((one) => one.name === name)
    put(machine.vlan, ofConfig(machine, name, number, its))
    if (its !== undefined) left.delete(its)
  }
  for (const machine of left) put(vlanOf(number, machine.address), { name: machine.name, ...seenPart(machine) })
  return {
    router: {
      name: seenRouter?.name ?? routerName ?? "router",
      ...seenPart(seenRouter),
      configured: wanAddress(number),
      ...(config === undefined ? {} : { template: config.router.template }),
    },
    lanes: [...lanes]
      .toSorted(([a], [b]) => (a ?? Infinity) - (b ?? Infinity))
      .map(([vlan, machines]) => ({
        ...(vlan === undefined ? {} : { vlan, network: vlanNetwork(number, vlan).text, gateway: gatewayAddress(number, vlan) }),
        machines: machines.toSorted(byAddress),
      })),
    rules: config?.network.rules.map(ruleOf) ?? [],
    ...(config === undefined
      ? {}
      : {
          defaults: {
            betweenVlans: config.network.interVlanDefault,
            outside: config.network.externalDefault,
            vpn: config.network.wireguardDefault,
          },
        }),
  }
}

/** Where a machine is in the network of its range, and what is known about it; undefined: nowhere. The router is in no lane. */
export const placeOf = (
  { router, lanes }: Topology,
  vmid: number,
): { readonly machine: TopologyMachine; readonly lane: TopologyLane | undefined } | undefined => {
  if (router.vmid === vmid) return { machine: router, lane: undefined }
  for (const lane of lanes) {
    const machine = lane.machines.find((one) => one.vmid === vmid)
    if (machine !== undefined) return { machine, lane }
  }
  return undefined
}
