import { rootUserId, type UserId, UserNotFound, type VpnKey } from "@rangewright/domain"
import { StorageFault, VpnRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { writesTo } from "./atomically.ts"
import type { MemoryStore } from "./memory-store.ts"

export const vpnRecordsLayer = (store: MemoryStore): Layer.Layer<VpnRecords> => {
  const { atomically } = writesTo(store)
  const keep = (user: UserId, key: VpnKey, replaces: boolean) =>
    atomically(function* () {
      if (!store.users.has(user)) return yield* Result.fail(new UserNotFound({ userId: user }))
      if ([...store.vpnKeys].some(([other, { publicKey }]) => other !== user && publicKey === key.publicKey))
        return yield* Result.fail(new StorageFault({ doing: "keep a VPN key", because: "another user has it" }))
      if (replaces || !store.vpnKeys.has(user)) store.vpnKeys.set(user, key)
    })
  return Layer.succeed(VpnRecords, {
    key: (user) => Effect.sync(() => store.vpnKeys.get(user)),
    keyless: Effect.sync(() =>
      [...store.users.values()]
        .filter(({ user }) => user.id !== rootUserId && !store.vpnKeys.has(user.id))
        .sort((a, b) => a.user.number - b.user.number)
        .map(({ user }) => user.id),
    ),
    giveKey: (user, key) => keep(user, key, false),
    replaceKey: (user, key) => keep(user, key, true),
  })
}
