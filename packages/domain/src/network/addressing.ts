/** The addresses and network names of a range; all are derived from its number. */
import type { RangeId } from "../access/ids.ts"
import type { Cidr } from "./cidr.ts"

/** Range numbers: the router's outside address is 192.0.2.(100 + number); .254 of that network is the host's. */
export const rangeNumbers = { first: 1, last: 153 } as const
/** VLANs of a range: the tag is also the third octet; 0 and 1 have no machines. */
export const vlans = { first: 2, last: 255 } as const
/** Fourth octets of machines: .254 is the gateway, .255 the broadcast address. */
export const machineOctets = { first: 1, last: 253 } as const
/** Fourth octets that the router's DHCP assigns to machines at their first boot. */
export const dhcpPool = { first: 100, last: 253 } as const
const gatewayOctet = 254
const firstBridge = 1000

/** Why a range cannot have this number; undefined if it can. */
export const rangeNumberProblem = (rangeNumber: number): string | undefined => {
  const { first, last } = rangeNumbers
  if (Number.isInteger(rangeNumber) && rangeNumber >= first && rangeNumber <= last) return undefined
  return `the range number ${rangeNumber} is outside ${first} to ${last}, which correspond to the router addresses 192.0.2.${100 + first} to 192.0.2.${100 + last}`
}

/** The network through which routers and templates reach the outside. */
export const natNetwork: Cidr = { text: "192.0.2.0/24", first: 0xc0_00_02_00, last: 0xc0_00_02_ff }
/** The default name of its bridge on a single node, or of its VNet in a cluster. */
export const natNetworkName = (clusterMode: boolean): string => (clusterMode ? "ludusnat" : "vmbr1000")
/** The host's address in it: gateway, name server, and the address from which routers are managed. */
export const natHost = "192.0.2.254"
const natPart = (first: number, length: number): Cidr => ({
  text: `192.0.2.${first}/${length}`,
  first: natNetwork.first + first,
  last: natNetwork.first + first + 2 ** (32 - length) - 1,
})
/**
 * Its DHCP pool, 192.0.2.50 to 192.0.2.100: for machines in which templates are built, and routers at their first boot. It contains neither
 * the host nor any configured router, and so no traffic forwarded by those routers.
 */
export const natLeases: readonly Cidr[] = [
  natPart(50, 31),
  natPart(52, 30),
  natPart(56, 29),
  natPart(64, 27),
  natPart(96, 30),
  natPart(100, 32),
]
/** VPN clients; user number n has .n. */
export const vpnNetwork: Cidr = { text: "198.51.100.0/24", first: 0xc6_33_64_00, last: 0xc6_33_64_ff }
export const vpnServer = "198.51.100.1"
export const vpnAddress = (userNumber: number): string => `198.51.100.${userNumber}`

/** 10.N.0.0/16. */
export const rangeNetwork = (rangeNumber: number): Cidr => {
  const first = 0x0a_00_00_00 + rangeNumber * 0x1_00_00
  return { text: `10.${rangeNumber}.0.0/16`, first, last: first + 0xff_ff }
}
/** 10.N.V.0/24. */
export const vlanNetwork = (rangeNumber: number, vlan: number): Cidr => {
  const first = rangeNetwork(rangeNumber).first + vlan * 256
  return { text: `10.${rangeNumber}.${vlan}.0/24`, first, last: first + 255 }
}
/** 10.N.V.O: the static address of a machine. */
export const machineAddress = (rangeNumber: number, vlan: number, octet: number): string => `10.${rangeNumber}.${vlan}.${octet}`
/** 10.N.V.254: the router's address in a VLAN; gateway and name server of its machines. */
export const gatewayAddress = (rangeNumber: number, vlan: number): string => machineAddress(rangeNumber, vlan, gatewayOctet)
/** First and last address of the DHCP pool of a VLAN. */
export const dhcpRange = (rangeNumber: number, vlan: number): { readonly first: string; readonly last: string } => ({
  first: machineAddress(rangeNumber, vlan, dhcpPool.first),
  last: machineAddress(rangeNumber, vlan, dhcpPool.last),
})
/** 192.0.2.(100 + N): the router's outside address. */
export const wanAddress = (rangeNumber: number): string => `192.0.2.${100 + rangeNumber}`

/** Whether ranges use VNets instead of bridges on one node: as configured by the operator, else whether there is more than one node. */
export const isCluster = (configured: boolean | undefined, nodes: readonly unknown[]): boolean => configured ?? nodes.length > 1

/** `vmbr1007` for range 7: the bridge on a single node. Linux allows at most 15 characters. */
export const bridgeName = (rangeNumber: number): string => `vmbr${firstBridge + rangeNumber}`
/** `r7` for range 7: the VNet in a cluster. The hypervisor allows at most 8 characters. */
export const vnetName = (rangeNumber: number): string => `r${rangeNumber}`

/** The comment of a range's bridge or alias of its VNet, by which the service recognizes its networks. */
export const networkComment = (rangeId: RangeId): string => `rangewright ${rangeId}`

/** The alias of the outside network's VNet. It looks like that of a range's network, so no new range gets the ID `NAT`. */
export const natAlias = "rangewright NAT"

/** Name of a range's network: a bridge or a VNet. */
export const networkName = (rangeNumber: number, clusterMode: boolean): string =>
  clusterMode ? vnetName(rangeNumber) : bridgeName(rangeNumber)
