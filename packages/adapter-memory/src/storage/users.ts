import {
  accountIdOf,
  allocateUserNumber,
  isNewer,
  LastAdministrator,
  newlyMadeUser,
  numbersHeldByVpn,
  restedNumbers,
  rootUserId,
  setBackBy,
  type User,
  UserExists,
  type UserId,
  UserNotFound,
} from "@rangewright/domain"
import { beingTold, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { writesTo } from "./atomically.ts"
import { dropUserOfBlueprints } from "./blueprints.ts"
import type { MemoryStore } from "./memory-store.ts"
import { dropIdentities } from "./identities.ts"
import { dropDurations } from "./step-durations.ts"
import { dropScopedKeys } from "./scoped-keys.ts"
import { dropSessions } from "./sessions.ts"
import { dropUserOfSources } from "./sources.ts"

const sameEmail = (a: string, b: string): boolean => a !== "" && a.toLowerCase() === b.toLowerCase()

export const usersLayer = (store: MemoryStore): Layer.Layer<Users> => {
  const { atomically, change } = writesTo(store)
  const all = () => [...store.users.values()].map(({ user }) => user)
  const firstOf = (test: (user: User) => boolean) => Effect.sync(() => all().find(test))
  const known = (id: UserId) => {
    const found = store.users.get(id)
    return found === undefined ? Result.fail(new UserNotFound({ userId: id })) : Result.succeed(found)
  }

  const newPasswordVersion = (id: UserId) => void store.passwordVersions.set(id, String(++store.passwordsSet))

  return Layer.succeed(Users, {
    find: (id) => Effect.sync(() => store.users.get(id)?.user),
    findByRecordId: (id) => firstOf((user) => user.recordId === id),
    findByEmail: (email) => firstOf((user) => sameEmail(user.email, email)),
    list: Effect.sync(() => all().sort((a, b) => a.number - b.number)),
    create: ({ secrets, number: requested, ...wanted }) =>
      atomically(function* (now) {
        if (store.users.has(wanted.id)) return yield* Result.fail(new UserExists({ field: "userID", value: wanted.id }))
        if (all().some((user) => accountIdOf(user) === accountIdOf(wanted)))
          return yield* Result.fail(new UserExists({ field: "name", value: wanted.name }))
        if (all().some((user) => sameEmail(user.email, wanted.email)))
          return yield* Result.fail(new UserExists({ field: "email", value: wanted.email }))
        for (const [number, since] of store.restingNumbers)
          if (since > now.getTime()) store.restingNumbers.set(number, now.getTime())
        const rested = restedNumbers({
          resting: store.restingNumbers,
          now: now.getTime(),
          routers: [...store.told.values()].map((numbers) => (numbers.includes(beingTold) ? undefined : numbers)),
          vpn: numbersHeldByVpn(store.heldByVpn.held),
        })
        for (const number of rested) store.restingNumbers.delete(number)
        const taken = new Set([...all().map((user) => user.number), ...store.restingNumbers.keys()])
        const number = yield* allocateUserNumber(wanted.id, taken, requested)
        const user = newlyMadeUser(wanted, number)
        store.users.set(user.id, { user, secrets })
        newPasswordVersion(user.id)
        return user
      }),
    setAdmin: (id, isAdmin) =>
      atomically(function* (now) {
        const found = yield* known(id)
        const others = all().some((user) => user.isAdmin && user.id !== rootUserId && user.id !== id)
        if (found.user.isAdmin && !isAdmin && !others) return yield* Result.fail(new LastAdministrator({ userId: id }))
        if (!isAdmin) dropSessions(store, id)
        const user: User = { ...found.user, isAdmin, updatedAt: now }
        store.users.set(id, { ...found, user })
        return user
      }),
    change: (id, change) =>
      atomically(function* (now) {
        const found = yield* known(id)
        const user: User = { ...found.user, ...change, updatedAt: now }
        store.users.set(id, { ...found, user })
        return user
      }),
    remove: (id) =>
      atomically(function* (now) {
        const found = store.users.get(id)
        if (found === undefined) return
        store.restingNumbers.set(found.user.number, now.getTime())
        store.users.delete(id)
        for (const users of store.grants.values()) users.delete(id)
        for (const { roles } of store.groups.values()) roles.delete(id)
        dropUserOfBlueprints(store, id)
        dropUserOfSources(store, id)
        store.userQuotas.delete(id)
        store.vpnKeys.delete(id)
        dropSessions(store, id)
        for (const { hash, callerId, userId } of store.consoleTickets.values())
          if (callerId === id || userId === id) store.consoleTickets.delete(hash)
        dropScopedKeys(store, id)
        dropIdentities(store, id)
        dropDurations(store, id)
        const without = (user: UserId | undefined) => (user === id ? undefined : user)
        for (const range of store.ranges.values())
          store.ranges.set(range.id, { ...range, createdBy: without(range.createdBy), madeFor: without(range.madeFor) })
        store.revision++
      }),
    forAuthentication: (id) => Effect.sync(() => store.users.get(id)),
    setSecrets: (id, secrets, condition) =>
      atomically(function* (now) {
        const found = yield* known(id)
        if (condition !== undefined && found.secrets.apiKeyHash !== condition.whileApiKeyHash) return
        store.users.set(id, {
          user: { ...found.user, updatedAt: now },
          secrets: { ...found.secrets, ...secrets },
        })
        if ("sealedPassword" in secrets) newPasswordVersion(id)
        if (condition === undefined) {
          dropSessions(store, id)
          dropScopedKeys(store, id)
        }
      }),
    touch: (stamps) =>
      change(() => {
        for (const [id, at] of stamps) {
          const found = store.users.get(id)
          if (found !== undefined && isNewer(at, found.user.lastActiveAt, setBackBy.lastActive))
            store.users.set(id, { ...found, user: { ...found.user, lastActiveAt: at } })
        }
      }),
  })
}
