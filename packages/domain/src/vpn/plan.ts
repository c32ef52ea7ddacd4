import { groupBy } from "../group-by.ts"
import { userNumberSpan } from "../access/allocation.ts"
import { rangeNumbers, vpnNetwork } from "../network/addressing.ts"
import { type Cidr, overlaps, parseCidr } from "../network/cidr.ts"
import { pairsOf, peerOf, type ObservedVpn, type VpnDifference, type VpnMember, type VpnPair, type VpnPeer } from "./model.ts"

/** The addresses of users. */
const members: Cidr = {
  text: vpnNetwork.text,
  first: vpnNetwork.first + userNumberSpan.from,
  last: vpnNetwork.first + userNumberSpan.to,
}

/** The number of the user who has exactly this address. */
const numberOf = (text: string): number | undefined => {
  const network = parseCidr(text)
  return network !== undefined && network.first === network.last && overlaps(network, members)
    ? network.first - vpnNetwork.first
    : undefined
}

const rangeNumberOf = (network: string): number | undefined => {
  const [, digits] = /^10\.(\d{1,3})\.0\.0\/16$/u.exec(network) ?? []
  const number = Number(digits ?? 0)
  return number >= rangeNumbers.first && number <= rangeNumbers.last ? number : undefined
}

/** A peer with only user addresses belongs to the service. */
const isOurs = ({ allowed }: VpnPeer): boolean => allowed.length > 0 && allowed.every((text) => numberOf(text) !== undefined)

/** Whether a peer may use the address of a user. */
const mayPretend = ({ allowed }: VpnPeer): boolean =>
  allowed.some((text) => {
    const network = parseCidr(text)
    return network !== undefined && overlaps(network, members)
  })

const sorted = (texts: readonly string[]): string => [...texts].sort().join()
const pairText = ({ client, network }: VpnPair): string => `${client} ${network}`

/**
 * The changes that make the server let in exactly these users, and notes for administrators. Peers that are not the service's stay as they
 * are, except for addresses of users. `known`: the keys that the service put there. `taken`: what the change takes from peers with other
 * keys, reported each time it is planned.
 */
export const planVpn = (
  wanted: readonly VpnMember[],
  observed: ObservedVpn,
  known: ReadonlySet<string> = new Set(),
): { readonly difference: VpnDifference; readonly notes: readonly string[]; readonly taken: readonly string[] } => {
  const peers = new Map(wanted.map((member) => [member.publicKey, peerOf(member)]))
  const there = new Map(observed.peers.map((peer) => [peer.publicKey, peer]))
  const pairs = wanted.flatMap(pairsOf)
  const isInLine =
    observed.guarded && observed.pairs !== undefined && sorted(pairs.map(pairText)) === sorted(observed.pairs.map(pairText))
  const others = observed.peers.filter((peer) => !peers.has(peer.publicKey))
  const set = [...peers.values()].filter(
    ({ publicKey, allowed }) => sorted(there.get(publicKey)?.allowed ?? []) !== sorted(allowed),
  )
  // WireGuard has an address on one peer only: adding it to a peer takes it from another
  const moved = new Set(set.flatMap(({ allowed }) => allowed))
  return {
    difference: {
      remove: others.filter(isOurs).map(({ publicKey }) => publicKey),
      set,
      pairs: isInLine ? undefined : pairs,
    },
    notes: others
      .filter((peer) => !isOurs(peer) && mayPretend(peer))
      .map(
        ({ publicKey, allowed }) =>
          `the peer ${publicKey} does not belong to this service and may send as users of the VPN (${allowed.join(", ")}): remove 198.51.100.${userNumberSpan.from} to .${userNumberSpan.to} from its AllowedIPs`,
      ),
    taken: others.flatMap((peer) => {
      if (isOurs(peer))
        return known.has(peer.publicKey)
          ? []
          : [`the service removes the peer ${peer.publicKey} (${peer.allowed.join(", ")}), which it did not put there`]
      const lost = peer.allowed.filter((address) => moved.has(address))
      return lost.length === 0
        ? []
        : [
            `the service takes ${lost.join(", ")} from the peer ${peer.publicKey}, which it did not put there, and gives it to a user`,
          ]
    }),
  }
}

export const isNoVpnDifference = ({ remove, set, pairs }: VpnDifference): boolean =>
  remove.length + set.length === 0 && pairs === undefined

/** The members that the server lets in now: everybody with a peer or a pair. */
export const membersOf = ({ peers, pairs = [] }: Pick<ObservedVpn, "peers" | "pairs">): readonly VpnMember[] => {
  const keys = new Map<number, string>()
  for (const { publicKey, allowed } of peers)
    for (const number of allowed.flatMap((text) => numberOf(text) ?? [])) keys.set(number, publicKey)
  const ranges = groupBy(
    pairs.flatMap(({ client, network }) => {
      const [userNumber, rangeNumber] = [numberOf(client), rangeNumberOf(network)]
      return userNumber === undefined || rangeNumber === undefined ? [] : [{ userNumber, rangeNumber }]
    }),
    ({ userNumber }) => userNumber,
  )
  return [...new Set([...keys.keys(), ...ranges.keys()])]
    .sort((a, b) => a - b)
    .map((userNumber) => ({
      userNumber,
      publicKey: keys.get(userNumber) ?? "",
      rangeNumbers: [...new Set((ranges.get(userNumber) ?? []).map(({ rangeNumber }) => rangeNumber))].sort((a, b) => a - b),
    }))
}
