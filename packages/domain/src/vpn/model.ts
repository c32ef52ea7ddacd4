import { groupBy } from "../group-by.ts"
import * as Schema from "effect/Schema"
import { rangeNetwork, vpnAddress } from "../network/addressing.ts"

/** A user in the VPN. The numbers of ranges ascend. */
export const VpnMemberJson = Schema.Struct({
  userNumber: Schema.Int,
  publicKey: Schema.String,
  rangeNumbers: Schema.Array(Schema.Int),
})
export type VpnMember = typeof VpnMemberJson.Type

/** Whom the VPN server lets in. */
export const HeldVpnJson = Schema.Struct({
  /** Members as last seen on the server; one without a peer has no key. */
  has: Schema.Array(VpnMemberJson),
  /** Members being added; the server may have them already. */
  adding: Schema.Array(VpnMemberJson),
  /** Messages about the server for administrators. */
  notes: Schema.Array(Schema.String),
  /** Why the last reconciliation failed. */
  trouble: Schema.optionalKey(Schema.String),
  /** Whom it lets in is not fully known: the service cannot read its state, or lost its record of it. */
  unseen: Schema.optionalKey(Schema.Boolean),
  /** What was taken from peers that the service did not add, and when; newest last. */
  taken: Schema.optionalKey(Schema.Array(Schema.Struct({ at: Schema.Number, what: Schema.String }))),
})
export type HeldVpn = typeof HeldVpnJson.Type

export const nothingHeldByVpn: HeldVpn = { has: [], adding: [], notes: [] }

/** Stands in for a damaged record: whom the server lets in is unknown until it is read. */
export const damagedHeldVpn: HeldVpn = {
  ...nothingHeldByVpn,
  unseen: true,
  trouble:
    "The stored state of the VPN server is damaged (the row in the table vpn_server); the next check of the server rewrites it",
}

/** The numbers of the users that the server lets in, or may; undefined if unknown. */
export const numbersHeldByVpn = ({ has, adding, unseen }: HeldVpn): ReadonlySet<number> | undefined =>
  unseen === true ? undefined : new Set([...has, ...adding].map(({ userNumber }) => userNumber))

/** The keys that the service put on the server, or was about to. */
export const keysKnownToVpn = ({ has, adding }: HeldVpn): ReadonlySet<string> =>
  new Set([...has, ...adding].map(({ publicKey }) => publicKey))

/** Number of keys remembered per user while the server's state is not known. */
const keysRemembered = 10

/** The state of a server that cannot be read, when these members may be added: it may have every key that was ever handed out. */
export const handedOut = (held: HeldVpn, wanted: readonly VpnMember[]): HeldVpn => {
  const all = groupBy([...held.has, ...held.adding, ...wanted], ({ userNumber }) => userNumber)
  const adding = [...all].flatMap(([userNumber, members]) =>
    [...groupBy(members, ({ publicKey }) => publicKey)]
      .map(([publicKey, same]) => ({
        userNumber,
        publicKey,
        rangeNumbers: [...new Set(same.flatMap(({ rangeNumbers }) => rangeNumbers))].sort((a, b) => a - b),
      }))
      .slice(-keysRemembered),
  )
  return { ...held, has: [], adding, unseen: true }
}

/** A client and a network that it may exchange packets with. */
export interface VpnPair {
  /** Address of the client. */
  readonly client: string
  /** `10.7.0.0/16`. */
  readonly network: string
}

/** A peer of the server's interface. */
export interface VpnPeer {
  readonly publicKey: string
  /** The networks it may send from, such as `198.51.100.4/32`. */
  readonly allowed: readonly string[]
}

/** The observed state of the VPN server. */
export interface ObservedVpn {
  readonly publicKey: string
  /** Includes peers that are not the service's. */
  readonly peers: readonly VpnPeer[]
  /** Undefined if the rules could not be read. */
  readonly pairs: readonly VpnPair[] | undefined
  readonly whyNoPairs?: { readonly message: string; readonly hint?: string | undefined }
  /** Whether the rules that block everything but the pairs are as they were loaded. */
  readonly guarded: boolean
}

/** The changes to make on the server. */
export interface VpnDifference {
  /** Public keys of peers. */
  readonly remove: readonly string[]
  readonly set: readonly VpnPeer[]
  /** All pairs that should exist, loaded with the rules; undefined if they are in place already. */
  readonly pairs: readonly VpnPair[] | undefined
}

export const peerOf = ({ publicKey, userNumber }: VpnMember): VpnPeer => ({
  publicKey,
  allowed: [`${vpnAddress(userNumber)}/32`],
})
export const pairsOf = ({ userNumber, rangeNumbers }: VpnMember): readonly VpnPair[] =>
  rangeNumbers.map((number) => ({ client: vpnAddress(userNumber), network: rangeNetwork(number).text }))
