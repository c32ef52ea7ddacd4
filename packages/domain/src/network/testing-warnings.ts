/** Warnings, as sentences, about what testing mode cannot close, or leaves open because the configuration asks for it. */
import type { FirewallRule, MachineConfig, RangeConfig, Zone } from "../range/config/model.ts"
import { renderName } from "../range/config/variables.ts"
import { reachesOutside } from "./firewall.ts"

/** Rules of the configuration that let machines reach the outside during testing mode. */
export const publicRules = ({ network }: Pick<RangeConfig, "network">): ReadonlyArray<FirewallRule> =>
  network.rules.filter((rule) => rule.action === "ACCEPT" && reachesOutside(rule))

/** Facts about a range and its machines. */
interface KnownRange {
  readonly rangeId: string
  /** MAC addresses of a machine in its VLAN, by which routers identify machines that keep their internet access. */
  readonly hardwareAddresses: (machine: MachineConfig) => readonly string[]
}

export const testingWarnings = (config: RangeConfig, range: KnownRange): ReadonlyArray<string> => {
  const { network, machines } = config
  const exempt = machines.filter(({ testing }) => !testing.blockInternet)
  const toVpn = network.rules.filter(({ action, destination }) => action === "ACCEPT" && destination.zone === "wireguard")
  return [
    ...publicRules(config).map(
      (rule) =>
        `the firewall rule "${rule.name}" lets ${zoneText(rule.source.zone)} reach the outside in testing mode too: remove it if you do not want that`,
    ),
    ...(config.router.iptablesCommands.length > 0
      ? ["router.iptables_commands run as root on the router, which enforces testing mode: what they start can open it later"]
      : []),
    ...config.router.roles.map(
      ({ name }) =>
        `the role ${name} runs as root on the router, which enforces testing mode: what it leaves there can open it later`,
    ),
    ...exempt.map((machine) => exemptText(machine, config, range)),
    ...(network.wireguardDefault === "ACCEPT" || toVpn.length > 0
      ? ["machines may open connections to VPN clients in testing mode too, and a client can forward what they send"]
      : []),
  ]
}

const exemptText = (machine: MachineConfig, { network, machines }: RangeConfig, range: KnownRange): string => {
  const name = renderName(machine.name, range)
  if (range.hardwareAddresses(machine).length === 0)
    return `${name} is isolated too, although testing.block_internet is false: none of its network cards in VLAN ${machine.vlan} is known, so the router cannot tell it from other machines. Deploy the range before testing`
  const near = machines.some((other) => other.vlan === machine.vlan && other.testing.blockInternet)
  const reached = near || network.interVlanDefault === "ACCEPT" || network.rules.some((rule) => opens(rule, machine.vlan))
  return [
    `${name} keeps its internet access in testing mode (testing.block_internet is false)`,
    ...(reached ? ["machines that reach it can send through it if it forwards what they send"] : []),
    ...(near
      ? [`a machine in VLAN ${machine.vlan} that takes over both its IP and its MAC address gets its internet access`]
      : []),
  ].join("; ")
}

const opens = ({ action, destination }: FirewallRule, vlan: number): boolean =>
  action === "ACCEPT" && (destination.zone === vlan || destination.zone === "all")

const zoneText = (zone: Zone): string => (zone === "all" ? "all machines" : `VLAN ${zone}`)
