import { Conflict, RangeNotFound, scopedKeysAtMost, tooManyScopedKeys, type UserId, UserNotFound } from "@rangewright/domain"
import { ScopedKeys } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { writesTo } from "./atomically.ts"
import type { MemoryStore } from "./memory-store.ts"

export const dropScopedKeys = (store: MemoryStore, userId: UserId): void => {
  for (const key of store.scopedKeys.values()) if (key.userId === userId) store.scopedKeys.delete(key.id)
}

export const scopedKeysLayer = (store: MemoryStore): Layer.Layer<ScopedKeys> => {
  const { atomically, change } = writesTo(store)
  const ofUser = (userId: string) =>
    [...store.scopedKeys.values()]
      .filter((key) => key.userId === userId)
      .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1))
  return Layer.succeed(ScopedKeys, {
    create: (key) =>
      atomically(function* (now) {
        const { userId, scope } = key
        if (!store.users.has(userId)) yield* Result.fail(new UserNotFound({ userId }))
        if (scope.kind === "range" && !store.ranges.has(scope.rangeId))
          yield* Result.fail(new RangeNotFound({ rangeId: scope.rangeId }))
        const there = ofUser(userId).filter(({ expiresAt }) => expiresAt > now)
        if (there.length >= scopedKeysAtMost) yield* Result.fail(new Conflict(tooManyScopedKeys(userId)))
        for (const { id, expiresAt } of ofUser(userId)) if (expiresAt <= now) store.scopedKeys.delete(id)
        store.scopedKeys.set(key.id, key)
      }),
    find: (id) => Effect.sync(() => store.scopedKeys.get(id)),
    ofUser: (userId) => Effect.sync(() => ofUser(userId)),
    remove: (userId, id) =>
      change(() => (userId === undefined || store.scopedKeys.get(id)?.userId === userId) && store.scopedKeys.delete(id)),
  })
}
