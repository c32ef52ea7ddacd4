/** Which addresses and names a range has: everything follows from its number. */
import type { RangeId } from "../access/ids.ts"
import type { Cidr } from "./cidr.ts"

/** Range numbers: the router's outside address is 192.0.2.(100 + number), and .254 of that network is the host's. */
export const rangeNumbers = { first: 1, last: 153 } as const
/** VLANs of a range: the tag is the third octet too, and 0 and 1 carry no machines. */
export const vlans = { first: 2, last: 255 } as const
/** Fourth octets of machines: .254 is the gateway's, .255 the broadcast address. */
export const machineOctets = { first: 1, last: 253 } as const
/** Fourth octets that the router hands out to machines at their first boot. */
export const dhcpPool = { first: 100, last: 253 } as const
const gatewayOctet = 254
const firstBridge = 1000

/** Why no range can have this number; undefined when one can. */
export const rangeNumberProblem = (rangeNumber: number): string | undefined => {
  const { first, last } = rangeNumbers
  if (Number.isInteger(rangeNumber) && rangeNumber >= first && rangeNumber <= last) return undefined
  return `the range number ${rangeNumber} is outside ${first} to ${last}, which correspond to the router addresses 192.0.2.${100 + first} to 192.0.2.${100 + last}`
}

/** The network that routers and templates reach the outside through. */
export const natNetwork: Cidr = { text: "192.0.2.0/24", first: 0xc0_00_02_00, last: 0xc0_00_02_ff }
/** Its bridge on a single node, and its VNet in a cluster, unless the operator names another. */
export const natNetworkName = (clusterMode: boolean): string => (clusterMode ? "ludusnat" : "vmbr1000")
/** The host in it: gateway, name server, and where routers are managed from. */
export const natHost = "192.0.2.254"
const natPart = (first: number, length: number): Cidr => ({
  text: `192.0.2.${first}/${length}`,
  first: natNetwork.first + first,
  last: natNetwork.first + first + 2 ** (32 - length) - 1,
})
/**
 * What its DHCP hands out, 192.0.2.50 to 192.0.2.100: machines that templates are built in, and routers at their first boot. Neither the host nor any
 * router that is set up is among them, nor is what speaks through those routers.
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
/** 10.N.V.254: the router's leg in a VLAN; gateway and name server of its machines. */
export const gatewayAddress = (rangeNumber: number, vlan: number): string => machineAddress(rangeNumber, vlan, gatewayOctet)
/** First and last address of the DHCP pool of a VLAN. */
export const dhcpRange = (rangeNumber: number, vlan: number): { readonly first: string; readonly last: string } => ({
  first: machineAddress(rangeNumber, vlan, dhcpPool.first),
  last: machineAddress(rangeNumber, vlan, dhcpPool.last),
})
/** 192.0.2.(100 + N): the router's address to the outside. */
export const wanAddress = (rangeNumber: number): string => `192.0.2.${100 + rangeNumber}`

/** Whether ranges have VNets, and not bridges of one node: as the operator says, else by the nodes that are seen. */
export const isCluster = (configured: boolean | undefined, nodes: readonly unknown[]): boolean => configured ?? nodes.length > 1

/** `vmbr1007` for range 7: the bridge on a single node. At most 15 characters, as Linux asks. */
export const bridgeName = (rangeNumber: number): string => `vmbr${firstBridge + rangeNumber}`
/** `r7` for range 7: the VNet in a cluster. At most 8 characters, as the hypervisor asks. */
export const vnetName = (rangeNumber: number): string => `r${rangeNumber}`

/** What a range's network says of itself, as a bridge's comment or a VNet's alias: by it the service knows its networks again. */
export const networkComment = (rangeId: RangeId): string => `rangewright ${rangeId}`

/** Name of a range's network: a bridge or a VNet. */
export const networkName = (rangeNumber: number, clusterMode: boolean): string =>
  clusterMode ? vnetName(rangeNumber) : bridgeName(rangeNumber)
