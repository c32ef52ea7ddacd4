import { type AddressMatch, type PacketFilter, type PacketRule, userChains } from "./packet-rule.ts"

/** The mark that the guard sets on packets to an address of an allowed domain. */
export const guardMark = "0x20000000"

/** A valid Linux interface name, without characters that have a meaning in iptables (`+`, whitespace, quotes). */
const interfaceName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$/u

/**
 * Renders the filter as input for `iptables-restore`, which replaces the whole table atomically. `outside` is the router's outside
 * interface, such as `ens18`; undefined if that is not a valid interface name.
 */
export const renderIptablesRestore = (filter: PacketFilter, outside: string): string | undefined => {
  if (!interfaceName.test(outside)) return undefined
  const lines = [
    "*filter",
    ...Object.entries(filter.policies).map(([chain, policy]) => `:${chain} ${policy} [0:0]`),
    ...userChains.map((chain) => `:${chain} - [0:0]`),
    ...filter.rules.map((rule) => line(rule, outside)),
    "COMMIT",
  ]
  return `${lines.join("\n")}\n`
}

const line = (rule: PacketRule, outside: string): string =>
  [
    `-A ${rule.chain}`,
    ...address(rule.source, "s", "--src-range"),
    ...address(rule.destination, "d", "--dst-range"),
    ...(rule.fromOutside === true ? [`-i ${outside}`] : []),
    ...(rule.protocol === undefined || rule.protocol === "all" ? [] : [`-p ${rule.protocol}`]),
    ...(rule.ports === undefined ? [] : [`-m ${rule.protocol} --dport ${ports(rule.ports)}`]),
    ...(rule.midway === true ? ["-p tcp ! --syn -m conntrack --ctstate NEW"] : []),
    ...(rule.passedGuard === true ? [`-m mark --mark ${guardMark}/${guardMark}`] : []),
    ...(rule.established === true ? ["-m conntrack --ctstate RELATED,ESTABLISHED"] : []),
    ...(rule.comment === undefined ? [] : [`-m comment --comment "${rule.comment.replaceAll(/["\\]/gu, String.raw`\$&`)}"`]),
    `-j ${rule.action}`,
  ].join(" ")

const address = (match: AddressMatch | undefined, letter: "s" | "d", range: string): ReadonlyArray<string> => {
  if (match === undefined) return []
  if ("first" in match) return [`-m iprange ${range} ${match.first}-${match.last}`]
  return [`${match.outside === true ? "! " : ""}-${letter} ${match.network}`]
}

const ports = ({ first, last }: { readonly first: number; readonly last: number }): string =>
  first === last ? `${first}` : `${first}:${last}`
