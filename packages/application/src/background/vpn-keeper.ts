import { isFault, type VpnMember } from "@rangewright/domain"
import { monotonicMillis, VpnRecords } from "@rangewright/ports"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Settings } from "../settings.ts"
import { bringVpnInLine } from "../vpn/in-line.ts"
import { vpnRecordsInTime } from "../vpn/in-time.ts"
import { giveMissingVpnKeys } from "../vpn/keys.ts"

/** Seconds between two reads of the store. A change there reaches the server a moment later, whoever made it. */
const readEverySeconds = 1
/** Seconds between two checks of the server while the store does not change. */
const lookEverySeconds = 15
/** Seconds until the next check after a failed one: revocations may wait for it. */
const againAfterSeconds = 5

/** Part of a turn: a failure is logged once, and retried in the next turn. False: there was nothing to do yet. */
const part = <E, R>(doing: Effect.Effect<boolean, E, R>) => {
  let said = ""
  const say = (message: string) => {
    const isNews = message !== said
    said = message
    return isNews ? Effect.logWarning(`the VPN is not up to date; the service tries again: ${message}`) : Effect.void
  }
  const done = Effect.map(doing, (isDone) => {
    if (isDone) said = ""
  })
  return Effect.catchCause(done, (cause) => {
    // not even a defect must end the loop: revocations wait for it
    const failure = Cause.squash(cause)
    return Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : say(isFault(failure) ? failure.message : String(failure))
  })
}

/** Reads the store, and checks the server when something changed or a check is due. */
const keeper = Effect.sync(() => {
  let known: string | undefined
  let lookAt = 0
  const shown = (members: readonly VpnMember[]): string => JSON.stringify(members)
  const look = Effect.gen(function* () {
    const vpn = yield* VpnRecords
    const wanted = shown(yield* vpn.members)
    const now = yield* monotonicMillis
    if (wanted === known && now < lookAt) return false
    known = wanted
    lookAt = now + againAfterSeconds * 1000
    known = shown(yield* bringVpnInLine)
    lookAt = now + lookEverySeconds * 1000
    return true
  })
  // each part runs even when the other fails
  const turn = Effect.andThen(part(Effect.as(giveMissingVpnKeys, true)), part(look))
  return Effect.flatMap(vpnRecordsInTime, (records) => Effect.provideService(turn, VpnRecords, records))
})

/** With a VPN: gives keys to users who have none, and keeps the VPN server in line with who may use which range. */
export const vpnKeeperLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const settings = yield* Settings
    if (settings.vpn === undefined) return
    const turn = yield* keeper
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(turn, Effect.sleep(readEverySeconds * 1000))))
  }),
)
