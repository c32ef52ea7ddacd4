import ipaddr from "ipaddr.js"
import { type AddressNetwork, parseNetwork } from "../content/destination.ts"

/** Parses a network, or a single address as a network of its own; undefined for anything else. */
export const parseProxies = (text: string): AddressNetwork | undefined => {
  if (text.includes("/") || !ipaddr.isValid(text)) return parseNetwork(text)
  return parseNetwork(`${text}/${ipaddr.parse(text).kind() === "ipv4" ? 32 : 128}`)
}

const isWithin = (address: ipaddr.IPv4 | ipaddr.IPv6, { address: base, length }: AddressNetwork): boolean => {
  const network = ipaddr.parse(base)
  return network.kind() === address.kind() && address.match([network, length])
}

/**
 * The address that sent a request: the connection's, or, if that is a trusted proxy, the last address in `X-Forwarded-For` (oldest first)
 * that is not one. Anything the sender wrote into the header comes before it and is not trusted.
 */
export const senderOf = (connection: string, forwardedFor: string | undefined, proxies: readonly AddressNetwork[]): string => {
  // an IPv4 client of a dual-stack listener
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
 * The key under which attempts from an address are counted: an IPv4 address, or the /64 of an IPv6 address, because a single host can use
 * all of it. A text that is not an address is its own key.
 */
export const originOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (!("parts" in parsed)) return parsed.toString()
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(":")}::/64`
}
