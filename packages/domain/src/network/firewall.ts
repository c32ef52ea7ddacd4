/** Builds the packet filter of a range's router from its configuration. */
import type { Endpoint, FirewallRule, NetworkConfig, PortRange } from "../range/config/model.ts"
import { machineAddress, natHost, rangeNetwork, vlanNetwork, vpnAddress, vpnNetwork, vpnServer } from "./addressing.ts"
import { parseCidr } from "./cidr.ts"
import { comment, ruleComment } from "./comment.ts"
import type { AddressMatch, PacketFilter, PacketRule, UserChain } from "./packet-rule.ts"

export interface FirewallInput {
  readonly rangeNumber: number
  readonly network: NetworkConfig
  /** The users who reach the range from the VPN: its owner, and those it is shared with. */
  readonly grants: ReadonlyArray<{ readonly userId: string; readonly userNumber: number }>
  /** Host addresses that ranges must not reach, in addition to the one in the outside network. */
  readonly hostAddresses: ReadonlyArray<string>
  /** Absent: testing mode is off. */
  readonly testing?: TestingFirewall | undefined
  /** True if the router has its own tunnel to the outside. */
  readonly hasTunnel?: boolean | undefined
}
export interface TestingFirewall {
  /** Machines that keep their internet access, with their MAC addresses as far as known. */
  readonly exempt: ReadonlyArray<{ readonly address: string; readonly macs: ReadonlyArray<string> }>
  /** Outside addresses and networks that all machines may reach. */
  readonly allowed: ReadonlyArray<string>
  /** Outside names whose addresses all machines may reach. */
  readonly names: ReadonlyArray<string>
}

/** All rules in evaluation order. The last rule in the configuration comes first. */
export const packetFilter = (input: FirewallInput): PacketFilter => {
  const range: AddressMatch = { network: rangeNetwork(input.rangeNumber).text }
  return {
    policies: { INPUT: "ACCEPT", FORWARD: "DROP", OUTPUT: "ACCEPT" },
    rules: [
      { chain: "INPUT", action: "LUDUS_DEFAULTS" },
      {
        chain: "INPUT",
        source: range,
        protocol: "tcp",
        ports: { first: 22, last: 22 },
        action: "REJECT",
        comment: "Default: Deny SSH to the router",
      },
      { chain: "FORWARD", action: "LUDUS_DEFAULTS" },
      { chain: "FORWARD", action: "LUDUS_TESTING" },
      { chain: "FORWARD", action: "LUDUS_USER_RULES" },
      ...defaultRules(input, range),
      ...testingRules(input, range),
      ...userRules(input, range),
    ],
  }
}

/** Prefix of the comments of rules that let users in. */
export const grantComment = "Access Grant: "

/** Whether a rule concerns traffic from machines to the outside, excluding the VPN. */
export const reachesOutside = ({ source, destination }: FirewallRule): boolean =>
  destination.zone === "public" && source.zone !== "public" && source.zone !== "wireguard"

/** The hypervisor's addresses, which machines must not reach. */
export const hostsOf = ({ hostAddresses }: FirewallInput): ReadonlyArray<string> =>
  [...new Set([natHost, ...hostAddresses])].filter((address) => parseCidr(address) !== undefined)

const usesVpn = (rule: FirewallRule): boolean => rule.source.zone === "wireguard" || rule.destination.zone === "wireguard"

const defaultRules = (input: FirewallInput, range: AddressMatch): ReadonlyArray<PacketRule> => {
  const { network, rangeNumber, grants } = input
  const chain = "LUDUS_DEFAULTS"
  const deny = (address: string, what: string): PacketRule => ({
    chain,
    source: range,
    destination: { network: address },
    action: "REJECT",
    comment: `Default: Deny traffic to ${what}`,
  })
  // invalid networks block nothing; `checkRangeConfig` and the parser report them
  const blocked = network.alwaysBlocked.flatMap((text) => parseCidr(text)?.text ?? [])
  return [
    ...blocked.toReversed().map((text): PacketRule => ({
      chain,
      source: range,
      destination: { network: text },
      action: "REJECT",
      comment: "User Default: always_blocked_networks rule",
    })),
    { chain, established: true, action: "ACCEPT", comment: "Default: allow related/established rule" },
    // otherwise a machine that keeps sending would reopen, in both directions, a connection that a revoked grant has closed
    {
      chain,
      source: range,
      destination: { network: vpnNetwork.text },
      midway: true,
      action: "DROP",
      comment: "Default: closed VPN connection",
    },
    { chain, source: { network: natHost }, fromOutside: true, action: "ACCEPT", comment: "Default: Ludus access rule" },
    ...hostsOf(input).map((address) => deny(address, "the host")),
    ...network.rules
      .filter(usesVpn)
      .toReversed()
      .flatMap((rule) => expandRule(chain, rule, rangeNumber)),
    deny(vpnServer, "the VPN server"),
    ...grants.map(({ userId, userNumber }): PacketRule => ({
      chain,
      source: { network: vpnAddress(userNumber) },
      fromOutside: true,
      action: "ACCEPT",
      comment: comment(`${grantComment}${userId}`),
    })),
    {
      chain,
      source: range,
      destination: { network: vpnNetwork.text },
      action: network.wireguardDefault,
      comment: "User Default: WireGuard Subnet Rule",
    },
    { chain, fromOutside: true, action: "REJECT", comment: "Default: Deny traffic in on external interface" },
  ]
}

const testingRules = ({ testing, rangeNumber }: FirewallInput, range: AddressMatch): ReadonlyArray<PacketRule> => {
  if (testing === undefined) return []
  const chain = "LUDUS_TESTING"
  const outside: AddressMatch = { network: rangeNetwork(rangeNumber).text, outside: true }
  return [
    ...testing.exempt.map(({ address }): PacketRule => ({
      chain,
      source: { network: address },
      destination: outside,
      action: "ACCEPT",
      comment: comment(`Ludus Testing: Allow ${address} out`),
    })),
    ...testing.allowed.map((address): PacketRule => ({
      chain,
      source: range,
      destination: { network: address },
      action: "ACCEPT",
      comment: comment(`Ludus Testing: Allow ${address}`),
    })),
    ...(testing.names.length === 0
      ? []
      : [{ chain, passedGuard: true, action: "ACCEPT", comment: "Ludus Testing: Allow addresses of domains" } as const]),
  ]
}

const userRules = ({ network, rangeNumber, testing }: FirewallInput, range: AddressMatch): ReadonlyArray<PacketRule> => {
  const chain = "LUDUS_USER_RULES"
  const outside: AddressMatch = { network: rangeNetwork(rangeNumber).text, outside: true }
  const own = network.rules.filter((rule) => !usesVpn(rule)).toReversed()
  const toRange: PacketRule = {
    chain,
    source: range,
    destination: range,
    action: network.interVlanDefault,
    comment: "User Default: Inter-VLAN Rule",
  }
  const toOutside: PacketRule = {
    chain,
    source: range,
    destination: outside,
    action: network.externalDefault,
    comment: "User Default: External Rule",
  }
  return [...own.flatMap((rule) => expandRule(chain, rule, rangeNumber)), toRange, ...(testing === undefined ? [toOutside] : [])]
}

/** One packet rule per element of the port list. */
export const expandRule = (chain: UserChain, rule: FirewallRule, rangeNumber: number): ReadonlyArray<PacketRule> => {
  const ports: ReadonlyArray<PortRange | undefined> = rule.ports === "all" ? [undefined] : rule.ports
  return ports.map((range) => ({
    chain,
    source: addresses(rule.source, rangeNumber),
    destination: addresses(rule.destination, rangeNumber),
    ...(rule.protocol === "all" ? {} : { protocol: rule.protocol }),
    ...(range === undefined ? {} : { ports: range }),
    action: rule.action,
    comment: ruleComment(rule.name),
  }))
}

const addresses = ({ zone, octets }: Endpoint, rangeNumber: number): AddressMatch => {
  const range = rangeNetwork(rangeNumber).text
  if (zone === "all") return { network: range }
  if (zone === "public") return { network: range, outside: true }
  const address = (octet: number): string => (zone === "wireguard" ? vpnAddress(octet) : machineAddress(rangeNumber, zone, octet))
  if (octets === undefined) return { network: zone === "wireguard" ? vpnNetwork.text : vlanNetwork(rangeNumber, zone).text }
  if (octets.first === octets.last) return { network: address(octets.first) }
  return { first: address(octets.first), last: address(octets.last) }
}
