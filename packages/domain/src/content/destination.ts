import ipaddr from "ipaddr.js"

/** Parses a non-public network to which connections are allowed: `10.0.0.0/8`, `fd00::/8`. Undefined if it is not a network. */
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

/** True for a public address: not private, link-local, loopback, multicast, reserved or a wrapped address. */
const isPublic = (address: ipaddr.IPv4 | ipaddr.IPv6): boolean =>
  address.range() === "unicast" && (address.kind() === "ipv4" || address.match(globalIPv6))

const within = (address: ipaddr.IPv4 | ipaddr.IPv6, network: AddressNetwork): boolean => {
  const base = ipaddr.parse(network.address)
  return base.kind() === address.kind() && address.match([base, network.length])
}

/**
 * Whether a fetch may connect to this address: a public one always, any other only if it is in an allowed network. An IPv4-mapped IPv6
 * address counts as the IPv4 address.
 */
export const mayConnect = (text: string, allowed: readonly AddressNetwork[]): boolean => {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  return isPublic(address) || allowed.some((network) => within(address, network))
}

/**
 * Whether an allowed network was meant for this very address: it contains no other one, or it is a network of the host itself, such as
 * `127.0.0.0/8`.
 */
export const isMeant = (text: string, allowed: readonly AddressNetwork[]): boolean => {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  return allowed.some(
    (network) =>
      within(address, network) &&
      (network.length === 8 * address.toByteArray().length || ipaddr.parse(network.address).range() === "loopback"),
  )
}

/**
 * The canonical form of an address, with IPv4-mapped IPv6 addresses as IPv4: equal texts mean the same host. Undefined if it is not an
 * address.
 */
export const plainAddress = (text: string): string | undefined =>
  ipaddr.isValid(text) && (text.includes(":") || ipaddr.IPv4.isValidFourPartDecimal(text))
    ? ipaddr.process(text).toString()
    : undefined

/**
 * Whether an address is one of these addresses, or lies in one of these networks, however it is spelled. What is neither an address nor a
 * network is ignored.
 */
export const isAmong = (text: string, places: readonly string[]): boolean => {
  const plain = plainAddress(text)
  if (plain === undefined) return false
  const address = ipaddr.parse(plain)
  return places.some((place) => {
    const network = parseNetwork(place)
    return network === undefined ? plainAddress(place) === plain : within(address, network)
  })
}
