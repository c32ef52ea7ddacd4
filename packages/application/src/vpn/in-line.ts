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

/** Checks in a row that may find a difference while the wanted state stays the same. */
const looksAtMost = 5

/** Most records of what was taken from foreign peers. */
const takenAtMost = 20

/** Updates the record of the server's state. */
const keep = (change: (held: HeldVpn) => HeldVpn) =>
  Effect.gen(function* () {
    const records = yield* VpnRecords
    const { held, version } = yield* records.held
    const next = change(held)
    if (JSON.stringify(next) !== JSON.stringify(held)) yield* records.hold(next, version)
  })

/** A note if the server's key differs from the one that clients are given. */
const keyNotes = (publicKey: string) =>
  Effect.map(Settings, ({ vpn }) =>
    vpn === undefined || vpn.publicKey === publicKey
      ? []
      : [`the server's public key is ${publicKey}, but wireguard_public_key is a different one: no client can connect`],
  )

/** Checks the server once, and repairs differences. True: there were none. `wanted`: the wanted state at that time. */
const look = Effect.gen(function* () {
  const records = yield* VpnRecords
  const server = yield* VpnServer
  if (!server.available) {
    const handed = yield* records.members
    yield* keep((held) => handedOut(held, handed))
  }
  const observed = yield* server.observe
  // read after the observation, so that it contains revocations made meanwhile
  const wanted = yield* records.members
  const { held } = yield* records.held
  const { difference, notes, taken } = planVpn(wanted, observed, keysKnownToVpn(held))
  // rules that cannot be read may still let through what they did
  const pairs = observed.pairs ?? [...held.has, ...held.adding].flatMap(pairsOf)
  const has = membersOf({ peers: observed.peers, pairs })
  const said = [...(yield* keyNotes(observed.publicKey)), ...notes]
  if (isNoVpnDifference(difference)) {
    yield* keep((now) => ({ has, adding: [], notes: said, ...(now.taken === undefined ? {} : { taken: now.taken }) }))
    return { wanted, isInLine: true }
  }
  // stored before anything is changed, so that what a crash leaves is known
  const adding = wanted.filter((member) => !has.some((one) => JSON.stringify(one) === JSON.stringify(member)))
  const at = yield* Clock.currentTimeMillis
  // a failed change is planned again, and not reported again
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
 * Brings the VPN server in line with what is stored: users with a key are let in to the ranges that they may use. Returns the wanted state
 * that the server was last seen to have exactly. A failure is recorded for people, and retried by the keeper.
 */
export const bringVpnInLine: Effect.Effect<readonly VpnMember[], Fault, Settings | VpnRecords | VpnServer> = Effect.gen(
  function* () {
    let before = ""
    for (let looks = 1; looks <= looksAtMost; looks++) {
      const { wanted, isInLine } = yield* look
      if (isInLine) return wanted
      // a change of the wanted state since the last check is not the server's failure
      const now = JSON.stringify(wanted)
      if (now !== before) looks = 1
      before = now
    }
    return yield* new VpnFault({
      doing: "update the VPN's server",
      reason: "unexpected",
      detail: `it still differs after ${looksAtMost} changes: something else changes it too, or it does not apply the changes`,
    })
  },
).pipe(
  Effect.tapError((fault) =>
    fault._tag === "VpnFault" ? Effect.ignore(keep((held) => ({ ...held, trouble: fault.message }))) : Effect.void,
  ),
)
