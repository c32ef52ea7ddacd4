import { isFault, type VpnMember } from "@rangewright/domain"
import { VpnRecords } from "@rangewright/ports"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Settings } from "../settings.ts"
import { bringVpnInLine } from "../vpn/in-line.ts"
import { giveMissingVpnKeys } from "../vpn/keys.ts"

/** Seconds between two reads of the store. What it says otherwise than before is on the server a moment later, whoever changed it. */
const readEverySeconds = 1
/** Seconds between two looks at the server where the store says the same. */
const lookEverySeconds = 15
/** Seconds until the next look after one that failed: revocations may wait for it. */
const againAfterSeconds = 5

/** Reads the store, and looks at the server when something changed or its time has come. */
const keeper = Effect.sync(() => {
  let known: string | undefined
  let lookAt = 0
  let said = ""
  const read = Effect.gen(function* () {
    yield* giveMissingVpnKeys
    const shown = (members: readonly VpnMember[]): string => JSON.stringify(members)
    const wanted = shown(yield* (yield* VpnRecords).members)
    const now = yield* Clock.currentTimeMillis
    if (wanted === known && now < lookAt) return
    known = wanted
    lookAt = now + againAfterSeconds * 1000
    known = shown(yield* bringVpnInLine)
    lookAt = now + lookEverySeconds * 1000
    said = ""
  })
  // what failed is said once, and tried again
  const say = (message: string) => {
    const isNews = message !== said
    said = message
    return isNews ? Effect.logWarning(`the VPN is not in line, which is tried again: ${message}`) : Effect.void
  }
  return Effect.catchCause(read, (cause) => {
    // also what nobody expected must not end this: revocations wait for it
    const failure = Cause.squash(cause)
    return Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : say(isFault(failure) ? failure.message : String(failure))
  })
})

/** Where there is a VPN: gives users a key who have none, and keeps its server in line with who may use which range. */
export const vpnKeeperLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    if ((yield* Settings).vpn === undefined) return
    const turn = yield* keeper
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(turn, Effect.sleep(readEverySeconds * 1000))))
  }),
)
