export {
  bridgeName,
  isCluster,
  dhcpPool,
  dhcpRange,
  gatewayAddress,
  machineAddress,
  machineOctets,
  natAlias,
  natHost,
  natLeases,
  natNetwork,
  natNetworkName,
  networkComment,
  networkName,
  rangeNetwork,
  rangeNumberProblem,
  rangeNumbers,
  vlanNetwork,
  vlans,
  vnetName,
  vpnAddress,
  vpnNetwork,
  vpnServer,
  wanAddress,
} from "./addressing.ts"
export { type AllowedDomain, allowedDomain } from "./allowed-domain.ts"
export { addressNumber, type Cidr, overlaps, parseCidr } from "./cidr.ts"
export { closedNames } from "./closed-names.ts"
export { type DnsNames, dnsNames, type DnsRecord } from "./dns.ts"
export { isDnsName } from "./dns-name.ts"
export { type FirewallInput, packetFilter, type TestingFirewall } from "./firewall.ts"
export { renderGuard } from "./guard.ts"
export { renderIptablesRestore } from "./iptables.ts"
export type { AddressMatch, Chain, PacketFilter, PacketRule } from "./packet-rule.ts"
export { readRouterReport, RefusedDestination, RouterInspection, seenOpen } from "./router-inspection.ts"
export { publicRules, testingWarnings } from "./testing-warnings.ts"
export { isThisHost } from "./this-host.ts"
