import { hasSessionEnded, isSecretStill, type Session, type UserId, UserNotFound } from "@rangewright/domain"
import { mostSessions, Sessions } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { writesTo } from "./atomically.ts"
import type { MemoryStore } from "./memory-store.ts"

const newestFirst = (a: Session, b: Session): number => b.createdAt.getTime() - a.createdAt.getTime()
const lastUsedFirst = (a: Session, b: Session): number => b.lastSeenAt.getTime() - a.lastSeenAt.getTime()

const sessionsOf = (store: MemoryStore, userId: UserId): Session[] =>
  [...store.sessions.values()].filter((session) => session.userId === userId)

export const dropSessions = (store: MemoryStore, userId: UserId): void => {
  for (const { hash } of sessionsOf(store, userId)) store.sessions.delete(hash)
}

export const sessionsLayer = (store: MemoryStore): Layer.Layer<Sessions> => {
  const { atomically, change } = writesTo(store)
  return Layer.succeed(Sessions, {
    begin: (session, seen) =>
      atomically(function* (now) {
        const found = store.users.get(session.userId)
        if (found === undefined) return yield* Result.fail(new UserNotFound({ userId: session.userId }))
        if (!isSecretStill(found.secrets, seen)) return false
        for (const one of store.sessions.values()) if (hasSessionEnded(one, now)) store.sessions.delete(one.hash)
        for (const { hash } of sessionsOf(store, session.userId)
          .toSorted(lastUsedFirst)
          .slice(mostSessions - 1))
          store.sessions.delete(hash)
        store.sessions.set(session.hash, session)
        return true
      }),
    find: (hash) => Effect.sync(() => store.sessions.get(hash)),
    of: (userId) => Effect.sync(() => sessionsOf(store, userId).toSorted(newestFirst)),
    touch: (hash, at) =>
      change(() => {
        const found = store.sessions.get(hash)
        if (found !== undefined && found.lastSeenAt < at) store.sessions.set(hash, { ...found, lastSeenAt: at })
      }),
    end: (which) =>
      change(() => {
        const ended = [...store.sessions.values()].filter(
          ({ id, userId }) => (which.userId === undefined || which.userId === userId) && (!("id" in which) || which.id === id),
        )
        for (const { hash } of ended) store.sessions.delete(hash)
        return ended.length
      }),
  })
}
