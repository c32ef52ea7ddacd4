import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Settings } from "../settings.ts"
import { giveMissingVpnKeys } from "../vpn/keys.ts"

/** Seconds between two looks for users without a key. */
const lookEverySeconds = 15

/** Where there is a VPN: gives users a key who have none. */
export const vpnKeeperLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    if ((yield* Settings).vpn === undefined) return
    const turn = Effect.ignore(giveMissingVpnKeys, { log: "Warn" })
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(turn, Effect.sleep(lookEverySeconds * 1000))))
  }),
)
