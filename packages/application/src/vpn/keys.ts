import { type UserId, type VpnKey, vpnKeyContext } from "@rangewright/domain"
import { SecretStore, VpnKeys, VpnRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

const newKey = (user: UserId) =>
  Effect.gen(function* () {
    const { privateKey, publicKey } = yield* (yield* VpnKeys).make
    const sealed = (yield* SecretStore).seal(Redacted.value(privateKey), vpnKeyContext(user))
    const key: VpnKey = { publicKey, sealed }
    return key
  })

/** Gives a user a key for the VPN; one that has a key keeps it. */
export const giveVpnKey = (user: UserId) =>
  Effect.gen(function* () {
    yield* (yield* VpnRecords).giveKey(user, yield* newKey(user))
  })

/** Gives a user another key for the VPN. */
export const replaceVpnKey = (user: UserId) =>
  Effect.gen(function* () {
    yield* (yield* VpnRecords).replaceKey(user, yield* newKey(user))
  })

/** Gives every user a key who has none: those of older versions, and those whose key was sealed with a lost one. */
export const giveMissingVpnKeys = Effect.gen(function* () {
  for (const user of yield* (yield* VpnRecords).keyless)
    yield* Effect.catchTag(giveVpnKey(user), "UserNotFound", () => Effect.void)
})
