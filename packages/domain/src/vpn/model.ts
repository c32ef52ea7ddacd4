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

/** Whom the VPN's server lets in. */
export const HeldVpnJson = Schema.Struct({
  /** As it was last seen; one without a peer has no key. */
  has: Schema.Array(VpnMemberJson),
  /** What it is being told, and may have by now. */
  adding: Schema.Array(VpnMemberJson),
  /** What people have to know of the server. */
  notes: Schema.Array(Schema.String),
  /** Why it could not be brought in line the last time. */
  trouble: Schema.optionalKey(Schema.String),
  /** Nobody knows all whom it lets in: the service cannot look at it, or lost what it knew. */
  unseen: Schema.optionalKey(Schema.Boolean),
  /** What was taken from peers that the service did not put there, and when; the newest last. */
  taken: Schema.optionalKey(Schema.Array(Schema.Struct({ at: Schema.Number, what: Schema.String }))),
})
export type HeldVpn = typeof HeldVpnJson.Type

export const nothingHeldByVpn: HeldVpn = { has: [], adding: [], notes: [] }

/** The record that says it is damaged: whom the server lets in is not known until it was looked at. */
export const damagedHeldVpn: HeldVpn = {
  ...nothingHeldByVpn,
  unseen: true,
  trouble:
    "The stored state of the VPN's server is damaged (the row of the table vpn_server); the next check of the server writes it again",
}

/** The numbers of users that the server lets in, or may; undefined: nobody knows. */
export const numbersHeldByVpn = ({ has, adding, unseen }: HeldVpn): ReadonlySet<number> | undefined =>
  unseen === true ? undefined : new Set([...has, ...adding].map(({ userNumber }) => userNumber))

/** The keys that the service put on the server, or meant to. */
export const keysKnownToVpn = ({ has, adding }: HeldVpn): ReadonlySet<string> =>
  new Set([...has, ...adding].map(({ publicKey }) => publicKey))

/** What is remembered of a user's keys that may be on a server that nobody sees. */
const keysRemembered = 10

/** What is known of a server that nobody sees, when these may come in: everything that was ever handed out may be there. */
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

/** What a client may exchange packets with. */
export interface VpnPair {
  /** Address of the client. */
  readonly client: string
  /** `10.7.0.0/16`. */
  readonly network: string
}

/** A peer of the server's interface. */
export interface VpnPeer {
  readonly publicKey: string
  /** The networks that it may send from, such as `198.51.100.4/32`. */
  readonly allowed: readonly string[]
}

/** The server of the VPN as it is. */
export interface ObservedVpn {
  readonly publicKey: string
  /** Those of others, too. */
  readonly peers: readonly VpnPeer[]
  /** Undefined: the rules could not be looked at. */
  readonly pairs: readonly VpnPair[] | undefined
  readonly whyNoPairs?: { readonly message: string; readonly hint?: string | undefined }
  /** Whether the rules that let nothing but the pairs through are as they were loaded. */
  readonly guarded: boolean
}

/** What has to be done on the server. */
export interface VpnDifference {
  /** Public keys of peers. */
  readonly remove: readonly string[]
  readonly set: readonly VpnPeer[]
  /** All pairs there are to be, with the rules; undefined: they are there. */
  readonly pairs: readonly VpnPair[] | undefined
}

export const peerOf = ({ publicKey, userNumber }: VpnMember): VpnPeer => ({
  publicKey,
  allowed: [`${vpnAddress(userNumber)}/32`],
})
export const pairsOf = ({ userNumber, rangeNumbers }: VpnMember): readonly VpnPair[] =>
  rangeNumbers.map((number) => ({ client: vpnAddress(userNumber), network: rangeNetwork(number).text }))
