import { type Identity, type Person, type UserId, UserNotFound } from "@rangewright/domain"
import { Identities } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { writesTo } from "./atomically.ts"
import type { MemoryStore } from "./memory-store.ts"

export const dropIdentities = (store: MemoryStore, userId: UserId): number => {
  const dropped = store.identities.filter((identity) => identity.userId === userId)
  for (const identity of dropped) store.identities.splice(store.identities.indexOf(identity), 1)
  return dropped.length
}

const isOf =
  ({ issuer, subject }: Person) =>
  (identity: Identity) =>
    identity.issuer === issuer && identity.subject === subject

export const identitiesLayer = (store: MemoryStore): Layer.Layer<Identities> => {
  const { atomically, change } = writesTo(store)
  return Layer.succeed(Identities, {
    find: (person) => Effect.sync(() => store.identities.find(isOf(person))),
    ofUser: (userId) => Effect.sync(() => store.identities.filter((identity) => identity.userId === userId)),
    link: (identity, { administrators }) =>
      atomically(function* () {
        const { userId, issuer } = identity
        const found = store.users.get(userId)
        if (found === undefined) return yield* Result.fail(new UserNotFound({ userId }))
        if (found.user.isAdmin && !administrators) return "administrator"
        if (store.identities.some(isOf(identity))) return "person-taken"
        if (store.identities.some((one) => one.userId === userId && one.issuer === issuer)) return "user-taken"
        store.identities.push(identity)
        return "linked"
      }),
    unlink: (userId) => change(() => dropIdentities(store, userId)),
    spend: ({ hash, expiresAt }) =>
      atomically(function* (now) {
        for (const [one, end] of store.spentSignIns) if (end <= now) store.spentSignIns.delete(one)
        if (store.spentSignIns.has(hash)) return false
        store.spentSignIns.set(hash, expiresAt)
        return true
      }),
  })
}
