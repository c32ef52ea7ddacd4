/**
 * The guard of a range's router: a separate nftables table next to the filter, which checks every packet between the range and the outside
 * while testing mode is on. Traffic must pass both. It has no exception for established connections that a machine opened, so traffic that
 * is no longer allowed ends at once.
 */
import type { FirewallRule, PortRange } from "../range/config/model.ts"
import { natHost, rangeNetwork, vpnNetwork } from "./addressing.ts"
import { parseCidr, spans } from "./cidr.ts"
import { expandRule, type FirewallInput, hostsOf, reachesOutside, type TestingFirewall } from "./firewall.ts"
import { guardMark } from "./iptables.ts"
import type { AddressMatch, PacketRule } from "./packet-rule.ts"

/** Port of the name server that resolves only allowed outside names. */
export const closedNamesPort = 5300
/** The mark on packets that the router's own tunnel sends. */
const tunnelMark = 51
const tunnelInterface = "outbound"
/** Hours for which an address is allowed after an allowed name resolved to it, and after its last use. */
const answerHours = 1
/** Maximum number of refused destinations that the router records, and of addresses per name. */
const atMost = 4096

const protocolNumbers = { tcp: 6, udp: 17, udplite: 136, icmp: 1, "ipv6-icmp": 58, esp: 50, ah: 51, sctp: 132 } as const
const withPorts = "{ 6, 17, 132, 136 }"
const names = "meta l4proto { 6, 17 } th dport 53"

/** The nftables set for the addresses of an allowed name; undefined if the name is too long for one. */
export const nameSet = (name: string): string | undefined => {
  const longest = 200
  return name.length > longest ? undefined : `name_${name}`
}

/** Renders the guard as input for `nft`. Its first line says whether the range is closed. */
export const renderGuard = (input: FirewallInput): string => {
  const { testing } = input
  const parts =
    testing === undefined
      ? [chain("forward", "filter hook forward priority -10; policy accept", ["meta nfproto ipv6 drop"])]
      : closed(input, testing)
  return `# ${testing === undefined ? "open" : "closed"}\ntable inet rangewright {\n${parts.flat().join("\n")}\n}\n`
}

const block = (what: string, lines: readonly string[]): readonly string[] => [
  `  ${what} {`,
  ...lines.map((line) => `    ${line}`),
  "  }",
]
const chain = (name: string, type: string | undefined, rules: readonly string[]): readonly string[] =>
  block(`chain ${name}`, [...(type === undefined ? [] : [`type ${type};`]), ...rules])
const set = (name: string, type: string, time: string): readonly string[] =>
  block(`set ${name}`, [`type ${type};`, `size ${atMost};`, "flags dynamic,timeout;", `timeout ${time};`])

const closed = (input: FirewallInput, testing: TestingFirewall): ReadonlyArray<readonly string[]> => {
  const range = rangeNetwork(input.rangeNumber).text
  const sets = testing.names.flatMap((name) => nameSet(name) ?? [])
  return [
    ...sets.map((name) => set(name, "ipv4_addr", `${answerHours}h`)),
    set("refused", "ipv4_addr . ipv4_addr . inet_proto . inet_service", "1d"),
    set("refused_other", "ipv4_addr . ipv4_addr . inet_proto", "1d"),
    block("counter refused_packets", []),
    chain("refuse", undefined, [
      "counter name refused_packets",
      `meta l4proto ${withPorts} update @refused { ip saddr . ip daddr . meta l4proto . th dport counter }`,
      `meta l4proto != ${withPorts} update @refused_other { ip saddr . ip daddr . meta l4proto counter }`,
      "meta l4proto 6 reject with tcp reset",
      "reject with icmpx type admin-prohibited",
    ]),
    chain("out", undefined, outward(input, testing, sets)),
    chain("in", undefined, inward(input, testing, sets)),
    chain("forward", "filter hook forward priority -10; policy drop", [
      "meta nfproto ipv6 drop",
      `ip saddr ${range} ip daddr ${range} accept`,
      `ip saddr ${range} goto out`,
      `ip daddr ${range} goto in`,
    ]),
    chain("sources", "filter hook prerouting priority -300; policy accept", sources(input)),
    chain("names", "nat hook prerouting priority -110; policy accept", [
      ...exempt(testing, `${names} accept`),
      `ip saddr ${range} fib daddr type local ${names} redirect to :${closedNamesPort}`,
    ]),
    // chains are replaced one after another: with policy drop, a chain that is momentarily empty lets nothing through
    chain("input", "filter hook input priority -10; policy drop", [
      `meta l4proto { 6, 17 } th dport ${closedNamesPort} ct status dnat accept`,
      `meta l4proto { 6, 17 } th dport ${closedNamesPort} drop`,
      ...exempt(testing, `${names} accept`),
      // this also stops earlier clients of the open name server, and programs on the router that act for machines
      `${names} drop`,
      "accept",
    ]),
    chain("output", "filter hook output priority -10; policy drop", [
      `oifname "lo" ${names} drop`,
      'oifname "lo" accept',
      "ct direction reply ct state established,related accept",
      `ip daddr ${range} accept`,
      "ip daddr 255.255.255.255 udp sport 67 accept",
      // otherwise a router that loses its connection tracking would cut off the session that configures it
      `ip daddr ${natHost} tcp sport 22 accept`,
      `meta skuid "dnsmasq" ip daddr ${natHost} ${names} accept`,
      ...(input.hasTunnel === true ? [`meta mark ${tunnelMark} accept`] : []),
    ]),
  ]
}

/**
 * Drops packets whose source address is routed through another interface: otherwise the router would reply to somebody outside, or mistake
 * a machine for one in another VLAN.
 */
const sources = ({ hasTunnel }: FirewallInput): readonly string[] => {
  const others = hasTunnel === true ? `{ "lo", "${tunnelInterface}" }` : '"lo"'
  return [
    `iifname != ${others} ip saddr != 0.0.0.0 fib saddr . iif oif missing drop`,
    'iifname != "lo" ip6 saddr != { ::, fe80::/10 } drop',
  ]
}

/** From the range to the outside. */
const outward = (input: FirewallInput, testing: TestingFirewall, sets: readonly string[]): readonly string[] => {
  const allowed = elements(testing.allowed)
  const kept = elements([...hostsOf(input), ...input.network.alwaysBlocked])
  return [
    // connections opened from outside were accepted by the filter
    "ct direction reply ct state established,related accept",
    // the filter decides who may reach the VPN
    `ip daddr ${vpnNetwork.text} accept`,
    `ip daddr ${kept} reject with icmpx type admin-prohibited`,
    ...exempt(testing, "accept"),
    ...(allowed === undefined ? [] : [`ip daddr ${allowed} accept`]),
    // an address stays open while in use; the mark tells the filter
    ...sets.map((name) => `ip daddr @${name} update @${name} { ip daddr } meta mark set meta mark or ${guardMark} accept`),
    ...ownRules(input).map((rule) => userRule(rule, "out")),
    "jump refuse",
  ]
}

/** From the outside to the range: even replies are accepted only from addresses to which the connection could be opened now. */
const inward = (input: FirewallInput, testing: TestingFirewall, sets: readonly string[]): readonly string[] => {
  const allowed = elements(testing.allowed)
  const free = elements(bound(testing).map(({ address }) => address))
  return [
    "ct direction original accept",
    "ct state related meta l4proto 1 accept",
    `ip saddr ${vpnNetwork.text} accept`,
    ...(free === undefined ? [] : [`ip daddr ${free} accept`]),
    ...(allowed === undefined ? [] : [`ip saddr ${allowed} accept`]),
    ...sets.map((name) => `ip saddr @${name} accept`),
    ...ownRules(input).map((rule) => userRule(rule, "in")),
    "drop",
  ]
}

/** Machines that keep their internet access and have a known MAC address: otherwise anybody could take their IP address and gain it. */
const bound = ({ exempt: machines }: TestingFirewall) => machines.filter(({ macs }) => macs.length > 0)
const exempt = (testing: TestingFirewall, action: string): readonly string[] =>
  bound(testing).map(({ address, macs }) => `ip saddr ${address} ether saddr { ${macs.join(", ")} } ${action}`)

/** IPv4 networks as a set without overlaps, which older versions of `nft` reject; undefined for none. */
const elements = (networks: readonly string[]): string | undefined => {
  const all = spans(networks.flatMap((text) => parseCidr(text) ?? []))
  return all.length === 0 ? undefined : `{ ${all.join(", ")} }`
}

const ownRules = ({ network, rangeNumber }: FirewallInput): ReadonlyArray<PacketRule> =>
  network.rules
    .filter((rule: FirewallRule) => reachesOutside(rule))
    .toReversed()
    .flatMap((rule) => expandRule("LUDUS_USER_RULES", rule, rangeNumber))

/** Renders a configuration's rule for traffic to the outside; `in`: for the replies. */
const userRule = ({ source, protocol, ports, action }: PacketRule, way: "out" | "in"): string => {
  const verdict = action === "ACCEPT" ? "accept" : way === "out" && action === "REJECT" ? "jump refuse" : "drop"
  return [
    machines(source, way === "out" ? "saddr" : "daddr"),
    ...(protocol === undefined || protocol === "all" ? [] : [`meta l4proto ${protocolNumbers[protocol]}`]),
    ...(ports === undefined ? [] : [`th ${way === "out" ? "dport" : "sport"} ${portText(ports)}`]),
    verdict,
  ].join(" ")
}

const machines = (match: AddressMatch | undefined, side: "saddr" | "daddr"): string => {
  if (match === undefined) return ""
  return `ip ${side} ${"first" in match ? `${match.first}-${match.last}` : match.network}`
}
const portText = ({ first, last }: PortRange): string => (first === last ? `${first}` : `${first}-${last}`)
