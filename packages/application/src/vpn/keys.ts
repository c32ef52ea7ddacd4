import { type UserId, type VpnKey, vpnKeyContext } from "@rangewright/domain"
import { SecretStore, VpnKeys, VpnRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

const newKey = (user: UserId) =>
  Effect.gen(function* () {
    const keys = yield* VpnKeys
    const secrets = yield* SecretStore
    const { privateKey, publicKey } = yield* keys.make
    const sealed = secrets.seal(Redacted.value(privateKey), vpnKeyContext(user))
    const key: VpnKey = { publicKey, sealed }
    return key
  })

/** Creates a VPN key for a user; an existing key stays. */
export const giveVpnKey = (user: UserId) =>
  Effect.gen(function* () {
    const vpn = yield* VpnRecords
    yield* vpn.giveKey(user, yield* newKey(user))
  })

/** Replaces a user's VPN key. */
export const replaceVpnKey = (user: UserId) =>
  Effect.gen(function* () {
    const vpn = yield* VpnRecords
    yield* vpn.replaceKey(user, yield* newKey(user))
  })

/** Creates a key for every user without one: users of older versions, and those whose key was sealed with a lost secret. */
export const giveMissingVpnKeys = Effect.gen(function* () {
  const vpn = yield* VpnRecords
  for (const user of yield* vpn.keyless) yield* Effect.catchTag(giveVpnKey(user), "UserNotFound", () => Effect.void)
})
