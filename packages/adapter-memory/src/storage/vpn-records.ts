import { type RangeId, rootUserId, type UserId, UserNotFound, type VpnKey } from "@rangewright/domain"
import { StaleVersion, StorageFault, VpnRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { usersOf } from "./access-records.ts"
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
    members: Effect.sync(() =>
      [...store.users.values()]
        .sort((a, b) => a.user.number - b.user.number)
        .flatMap(({ user }) => {
          const key = store.vpnKeys.get(user.id)
          if (key === undefined) return []
          const may = (id: RangeId) => usersOf(store, id).includes(user.id)
          const ranges = [...store.ranges.values()].filter(({ id }) => may(id)).map(({ number }) => number)
          return [{ userNumber: user.number, publicKey: key.publicKey, rangeNumbers: ranges.sort((a, b) => a - b) }]
        }),
    ),
    held: Effect.sync(() => store.heldByVpn),
    hold: (held, version) =>
      atomically(function* () {
        if (store.heldByVpn.version !== version)
          return yield* Result.fail(new StaleVersion({ what: "what the VPN's server has" }))
        store.heldByVpn = { held, version: version + 1 }
      }),
    giveKey: (user, key) => keep(user, key, false),
    replaceKey: (user, key) => keep(user, key, true),
  })
}
