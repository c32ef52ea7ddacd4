import ipaddr from "ipaddr.js"
import { type AddressNetwork, parseNetwork } from "../content/destination.ts"

/** A network as `parseNetwork` reads it, or a single address as a network of its own; undefined for neither. */
export const parseProxies = (text: string): AddressNetwork | undefined => {
  if (text.includes("/") || !ipaddr.isValid(text)) return parseNetwork(text)
  return parseNetwork(`${text}/${ipaddr.parse(text).kind() === "ipv4" ? 32 : 128}`)
}

const isWithin = (address: ipaddr.IPv4 | ipaddr.IPv6, { address: base, length }: AddressNetwork): boolean => {
  const network = ipaddr.parse(base)
  return network.kind() === address.kind() && address.match([network, length])
}

/**
 * Who sent a request: the address of the connection, and where that is a proxy which is trusted, the last address that the proxies
 * themselves tell of (`X-Forwarded-For`, oldest first). What a sender writes into that header is before it, and is not believed.
 */
export const senderOf = (connection: string, forwardedFor: string | undefined, proxies: readonly AddressNetwork[]): string => {
  // an IPv4 client of a listener for both
  const direct = connection.startsWith("::ffff:") ? connection.slice(7) : connection
  if (proxies.length === 0 || forwardedFor === undefined) return direct
  let sender = direct
  for (const told of [direct, ...forwardedFor.split(",").reverse()].map((text) => text.trim())) {
    if (!ipaddr.isValid(told)) return sender
    const address = ipaddr.process(told)
    sender = address.toString()
    if (!proxies.some((network) => isWithin(address, network))) return sender
  }
  return sender
}

/**
 * What attempts from an address are counted under: an IPv4 address, or the /64 of an IPv6 address, of which a single host has all. A text
 * that is no address stands for itself.
 */
export const originOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (!("parts" in parsed)) return parsed.toString()
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(":")}::/64`
}
