/** A packet filter's verdict on one packet, by the rules as data: what a router would do. */
import {
  addressNumber,
  type AddressMatch,
  type Chain,
  type PacketFilter,
  type PacketRule,
  parseCidr,
} from "../src/network/index.ts"

export interface Packet {
  readonly source: string
  readonly destination: string
  readonly protocol: string
  readonly port?: number | undefined
  readonly fromOutside?: boolean | undefined
  readonly established?: boolean | undefined
  readonly midway?: boolean | undefined
}
export type Verdict = "ACCEPT" | "REJECT" | "DROP"

export const verdictOn = (filter: PacketFilter, chain: "INPUT" | "FORWARD", packet: Packet): Verdict =>
  walk(filter, chain, packet) ?? filter.policies[chain]

const walk = (filter: PacketFilter, chain: Chain, packet: Packet): Verdict | undefined => {
  for (const rule of filter.rules) {
    if (rule.chain !== chain || !matches(rule, packet)) continue
    if (rule.action === "ACCEPT" || rule.action === "REJECT" || rule.action === "DROP") return rule.action
    const verdict = walk(filter, rule.action, packet)
    if (verdict !== undefined) return verdict
  }
  return undefined
}

const matches = (rule: PacketRule, packet: Packet): boolean =>
  (rule.source === undefined || holds(rule.source, packet.source)) &&
  (rule.destination === undefined || holds(rule.destination, packet.destination)) &&
  (rule.fromOutside !== true || packet.fromOutside === true) &&
  (rule.midway !== true || packet.midway === true) &&
  (rule.established !== true || packet.established === true) &&
  (rule.protocol === undefined || rule.protocol === packet.protocol) &&
  (rule.ports === undefined || (packet.port !== undefined && packet.port >= rule.ports.first && packet.port <= rule.ports.last))

const numberOf = (address: string): number => {
  const number = addressNumber(address)
  if (number === undefined) throw new Error(`${address} is no address`)
  return number
}

const holds = (match: AddressMatch, address: string): boolean => {
  const number = numberOf(address)
  if ("first" in match) return number >= numberOf(match.first) && number <= numberOf(match.last)
  const network = parseCidr(match.network)
  if (network === undefined) throw new Error(`${match.network} is no network`)
  return (number >= network.first && number <= network.last) !== (match.outside === true)
}
