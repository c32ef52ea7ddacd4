/** Firewall rules that are well-formed but cannot be loaded, or mean nothing. */
import { parseCidr } from "../../network/cidr.ts"
import { type Finding, quote } from "./issue.ts"
import type { Endpoint, FirewallRule, Protocol } from "./model.ts"
import { type Node, offsetOf, type Path } from "./node.ts"

const protocolsWithPorts: ReadonlySet<Protocol> = new Set(["tcp", "udp", "sctp"])

/** All such rules. Loading one would fail and leave the range without its firewall, so the file is refused. */
export const impossibleRules = (rules: ReadonlyArray<FirewallRule>, root: Node): ReadonlyArray<Finding> =>
  rules.flatMap((rule, index) => {
    const found = (key: string, code: string, message: string, allowed: string): Finding => {
      const path: Path = ["network", "rules", index, key]
      return { path, offset: offsetOf(root, path), code, message, allowed }
    }
    return [...ports(rule, found), ...end(rule.source, "src", found), ...end(rule.destination, "dst", found)]
  })

type Found = (key: string, code: string, message: string, allowed: string) => Finding

const ports = (rule: FirewallRule, found: Found): ReadonlyArray<Finding> => {
  if (rule.ports === "all") return []
  if (!protocolsWithPorts.has(rule.protocol))
    return [
      found(
        "ports",
        "ports-without-protocol",
        `the protocol ${rule.protocol} has no ports`,
        "`all`, or protocol tcp, udp or sctp",
      ),
    ]
  return rule.ports
    .filter(({ first, last }) => first > last || last > 65_535)
    .map(({ first, last }) =>
      found("ports", "bad-port-range", `${quote(`${first}:${last}`)} is not a port range`, "0 to 65535, the lower first"),
    )
}

const end = ({ zone, octets }: Endpoint, side: "src" | "dst", found: Found): ReadonlyArray<Finding> => {
  if (octets === undefined) return []
  const key = `ip_last_octet_${side}`
  if (zone === "public" || zone === "all")
    return [
      found(
        key,
        "octet-without-vlan",
        `an address in \`${zone}\` has no meaning`,
        `no ${key}, or a VLAN or wireguard in vlan_${side}`,
      ),
    ]
  if (octets.first > octets.last || octets.last > 255)
    return [
      found(
        key,
        "bad-octet-range",
        `${quote(`${octets.first}-${octets.last}`)} is not a range of octets`,
        "0 to 255, the lower first",
      ),
    ]
  return []
}

/**
 * Entries of `always_blocked_networks` that are not a network, and so block nothing. The first must be `address/length`, as it always
 * had to; the others only cause a warning, because files that contain them are in use.
 */
export const unusableNetworks = (networks: ReadonlyArray<string>, root: Node): ReadonlyArray<Finding> =>
  networks.flatMap((network, index) => {
    const usable = parseCidr(network) !== undefined && (index > 0 || network.includes("/"))
    if (usable) return []
    const path: Path = ["network", "always_blocked_networks", index]
    return [
      {
        path,
        offset: offsetOf(root, path),
        code: "no-network",
        message: `${quote(network)} is not an IPv4 network${index > 0 ? " and blocks nothing" : ""}`,
        allowed: "address/length, such as 192.168.1.0/24",
        severity: index > 0 ? "warning" : "error",
      },
    ]
  })
