import {
  type Fault,
  handedOut,
  type HeldVpn,
  isNoVpnDifference,
  keysKnownToVpn,
  membersOf,
  pairsOf,
  planVpn,
  type VpnMember,
} from "@rangewright/domain"
import { VpnFault, VpnRecords, VpnServer } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"

/** Looks in a row that may find the server otherwise than wanted while the same is wanted. */
const looksAtMost = 5

/** What was taken from peers of others, of which this many are shown. */
const takenAtMost = 20

/** Changes what is known of the server, from what it is now. */
const keep = (change: (held: HeldVpn) => HeldVpn) =>
  Effect.gen(function* () {
    const records = yield* VpnRecords
    const { held, version } = yield* records.held
    const next = change(held)
    if (JSON.stringify(next) !== JSON.stringify(held)) yield* records.hold(next, version)
  })

/** The server shows another key than clients are told. */
const keyNotes = (publicKey: string) =>
  Effect.map(Settings, ({ vpn }) =>
    vpn === undefined || vpn.publicKey === publicKey
      ? []
      : [`the server's public key is ${publicKey}, but wireguard_public_key is a different one: no client can connect`],
  )

/** One look at the server, and the repair of what differs. True: nothing differed. `wanted` is what was wanted then. */
const look = Effect.gen(function* () {
  const records = yield* VpnRecords
  const server = yield* VpnServer
  if (!server.available) {
    const handed = yield* records.members
    yield* keep((held) => handedOut(held, handed))
  }
  const observed = yield* server.observe
  // asked after the look: what was revoked meanwhile is in it
  const wanted = yield* records.members
  const { held } = yield* records.held
  const { difference, notes, taken } = planVpn(wanted, observed, keysKnownToVpn(held))
  // rules that cannot be looked at may let through what they did
  const pairs = observed.pairs ?? [...held.has, ...held.adding].flatMap(pairsOf)
  const has = membersOf({ peers: observed.peers, pairs })
  const said = [...(yield* keyNotes(observed.publicKey)), ...notes]
  if (isNoVpnDifference(difference)) {
    yield* keep((now) => ({ has, adding: [], notes: said, ...(now.taken === undefined ? {} : { taken: now.taken }) }))
    return { wanted, isInLine: true }
  }
  // written before anything is changed: what a crash leaves is known
  const adding = wanted.filter((member) => !has.some((one) => JSON.stringify(one) === JSON.stringify(member)))
  const at = yield* Clock.currentTimeMillis
  // a change that failed is planned again, which is no news
  const news = taken.filter((what) => held.adding.length === 0 || held.taken?.some((one) => one.what === what) !== true)
  const before = (known: HeldVpn["taken"]) => (known ?? []).filter(({ what }) => !news.includes(what))
  yield* keep((now) => ({
    has,
    adding,
    notes: said,
    ...(now.trouble === undefined ? {} : { trouble: now.trouble }),
    ...(now.unseen === true && observed.pairs === undefined ? { unseen: true } : {}),
    ...(now.taken === undefined && news.length === 0
      ? {}
      : { taken: [...before(now.taken), ...news.map((what) => ({ at, what }))].slice(-takenAtMost) }),
  }))
  for (const what of news) yield* Effect.logWarning(`on the VPN's server, ${what}`)
  yield* server.apply(difference)
  return { wanted, isInLine: false }
})

/**
 * Brings the VPN's server in line with what is stored: who has a key is let in, to the ranges that they may use. Returns what was wanted when the server was
 * last seen to have exactly that. What fails is kept for people, and tried again by the keeper.
 */
export const bringVpnInLine: Effect.Effect<readonly VpnMember[], Fault, Settings | VpnRecords | VpnServer> = Effect.gen(
  function* () {
    let before = ""
    for (let looks = 1; looks <= looksAtMost; looks++) {
      const { wanted, isInLine } = yield* look
      if (isInLine) return wanted
      // what is wanted otherwise than a look ago is no failure of the server's
      const now = JSON.stringify(wanted)
      if (now !== before) looks = 1
      before = now
    }
    return yield* new VpnFault({
      doing: "update the VPN's server",
      reason: "unexpected",
      detail: `it still differs after ${looksAtMost} changes: somebody else changes it too, or it does not show what it was given`,
    })
  },
).pipe(
  Effect.tapError((fault) =>
    fault._tag === "VpnFault" ? Effect.ignore(keep((held) => ({ ...held, trouble: fault.message }))) : Effect.void,
  ),
)
