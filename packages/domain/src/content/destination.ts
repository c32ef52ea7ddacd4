import ipaddr from "ipaddr.js"

/** A network of addresses that may be connected to although it is not public: `10.0.0.0/8`, `fd00::/8`. Undefined for no network. */
export const parseNetwork = (text: string): AddressNetwork | undefined => {
  if (!ipaddr.isValidCIDR(text)) return undefined
  const [address, length] = ipaddr.parseCIDR(text)
  return { address: address.toNormalizedString(), length }
}

export interface AddressNetwork {
  readonly address: string
  readonly length: number
}

const globalIPv6 = ipaddr.parseCIDR("2000::/3")

/** True for an address of the open internet: not private, link-local, loopback, multicast, reserved or one that only wraps another. */
const isPublic = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address.range() === "unicast" && (address.kind() === "ipv4" || address.match(globalIPv6))

const within = (address: ipaddr.IPv4 | ipaddr.IPv6, network: AddressNetwork): boolean => {
  const base = ipaddr.parse(network.address)
  return base.kind() === address.kind() && address.match([base, network.length])
}

/** May a fetch connect to this address? Public ones always, others only where a network names them. An IPv4 address in IPv6 counts as itself. */
export const mayConnect = (text: string, allowed: readonly AddressNetwork[]): boolean => {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  return isPublic(address) || allowed.some((network) => within(address, network))
}

/** One spelling for each address, an IPv4 address in IPv6 as itself: two texts name the same host when these are equal. Undefined for none. */
export const plainAddress = (text: string): string | undefined =>
  ipaddr.isValid(text) && (text.includes(":") || ipaddr.IPv4.isValidFourPartDecimal(text))
    ? ipaddr.process(text).toString()
    : undefined
