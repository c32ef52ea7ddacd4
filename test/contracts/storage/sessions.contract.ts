import { hasSessionEnded, type RecordId, type Session, UserNotFound } from "@rangewright/domain"
import { mostSessions, Sessions, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, type SuiteCollector } from "vitest"
import { newUser, userId } from "./samples.ts"
import { later, pass, promises, type StorageUnderTest } from "./storage-under-test.ts"

const alice = userId("alice")
const bob = userId("bob")

const session = (n: number, more: Partial<Session> = {}): Session => ({
  id: `session${String(n).padStart(8, "0")}` as RecordId,
  hash: String(n).padStart(64, "0"),
  userId: alice,
  createdAt: later(n),
  lastSeenAt: later(n),
  remote: "192.0.2.7",
  agent: "Browser/1.0",
  ...more,
})

const withUsers = Effect.gen(function* () {
  const users = yield* Users
  yield* users.create(newUser("alice"))
  yield* users.create(newUser("bob"))
  yield* users.create(newUser("carol", { isAdmin: true }))
  const sessions = yield* Sessions
  /** With the secrets as they are. */
  const begin = (one: Session) =>
    Effect.flatMap(users.forAuthentication(one.userId), (found) =>
      sessions.begin(one, found?.secrets ?? { apiKeyHash: undefined }),
    )
  return { begin, users, sessions }
})

export const sessionsContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: browser sessions`, () => {
    const it = promises(storage)

    it(
      "are found by their hash, and listed only for their user, newest first",
      Effect.gen(function* () {
        const { begin, sessions } = yield* withUsers
        const [one, two, other] = [session(1), session(2, { agent: "" }), session(3, { userId: bob })]
        for (const each of [one, two, other]) yield* begin(each)
        expect(yield* sessions.find(one.hash)).toEqual(one)
        expect(yield* sessions.find("f".repeat(64))).toBeUndefined()
        expect(yield* sessions.of(alice)).toEqual([two, one])
        expect(yield* Effect.flip(begin(session(4, { userId: userId("nobody") })))).toBeInstanceOf(UserNotFound)
      }),
    )

    it(
      "end one by one or all of a user, and others' do not",
      Effect.gen(function* () {
        const { begin, sessions } = yield* withUsers
        for (const each of [session(1), session(2), session(3), session(4, { userId: bob })]) yield* begin(each)
        expect(yield* sessions.end({ userId: bob, id: session(1).id })).toBe(0)
        expect(yield* sessions.end({ userId: alice, id: session(1).id })).toBe(1)
        expect(yield* sessions.find(session(1).hash)).toBeUndefined()
        expect(yield* sessions.end({ userId: alice })).toBe(2)
        expect(yield* sessions.of(alice)).toEqual([])
        expect(yield* sessions.of(bob)).toHaveLength(1)
        expect(yield* sessions.end({ userId: undefined, id: session(4).id })).toBe(1)
      }),
    )

    it(
      "remember their last use, which never goes back, and do not come back",
      Effect.gen(function* () {
        const { begin, sessions } = yield* withUsers
        yield* begin(session(1))
        yield* sessions.touch(session(1).hash, later(60))
        yield* sessions.touch(session(1).hash, later(30))
        expect((yield* sessions.find(session(1).hash))?.lastSeenAt).toEqual(later(60))
        yield* sessions.end({ userId: alice })
        yield* sessions.touch(session(1).hash, later(90))
        expect(yield* sessions.find(session(1).hash)).toBeUndefined()
      }),
    )

    it(
      "are deleted when the next one begins after their end, and when a user has too many",
      Effect.gen(function* () {
        const { begin, sessions } = yield* withUsers
        yield* begin(session(1, { userId: bob }))
        yield* pass(storage, 13 * 60 * 60)
        const now = 13 * 60 * 60
        for (let n = 0; n < mostSessions; n++) yield* begin(session(now + n, { lastSeenAt: later(now + (n === 0 ? 1000 : n)) }))
        expect(yield* sessions.of(bob)).toEqual([])
        yield* begin(session(now + mostSessions))
        const left = yield* sessions.of(alice)
        expect(left).toHaveLength(mostSessions)
        expect(left.map(({ id }) => id)).not.toContain(session(now + 1).id)
        expect(left.map(({ id }) => id)).toContain(session(now).id)
      }),
    )

    it(
      "are deleted when they began later than now: the clock was set back, and their end would come too late",
      Effect.gen(function* () {
        const { begin, sessions } = yield* withUsers
        yield* begin(session(2 * 60 * 60, { lastSeenAt: later(2 * 60 * 60) }))
        yield* begin(session(30))
        yield* begin(session(1, { userId: bob }))
        const left = yield* sessions.of(alice)
        expect(left.map(({ id }) => id)).toEqual([session(30).id])
        expect(left.map((one) => hasSessionEnded(one, later(0)))).toEqual([false])
        expect(hasSessionEnded(session(2 * 60 * 60), later(0))).toBe(true)
      }),
    )

    it(
      "end with a change of the user's secrets, but not with a better hash of the same key",
      Effect.gen(function* () {
        const { begin, sessions, users } = yield* withUsers
        for (const secrets of [{ apiKeyHash: "x" }, { sealedPassword: "y" }, { tokenKey: "z" }]) {
          yield* begin(session(1))
          yield* begin(session(2, { userId: bob }))
          yield* users.setSecrets(alice, secrets)
          expect(yield* sessions.find(session(1).hash)).toBeUndefined()
          expect(yield* sessions.end({ userId: bob })).toBe(1)
        }
        yield* begin(session(1))
        yield* users.setSecrets(alice, { apiKeyHash: "better" }, { whileApiKeyHash: "x" })
        expect(yield* sessions.find(session(1).hash)).toBeDefined()
      }),
    )

    it(
      "do not begin with a secret that was replaced since it was checked",
      Effect.gen(function* () {
        const { sessions, users } = yield* withUsers
        yield* users.setSecrets(alice, { sealedPassword: "old" })
        const { apiKeyHash, sealedPassword } = (yield* users.forAuthentication(alice))!.secrets
        yield* users.setSecrets(alice, { sealedPassword: "new", tokenKey: "new" })
        expect(yield* sessions.begin(session(1), { sealedPassword })).toBe(false)
        expect(yield* sessions.begin(session(2), { apiKeyHash })).toBe(true)
        yield* users.setSecrets(alice, { apiKeyHash: "new" })
        expect(yield* sessions.begin(session(3), { apiKeyHash })).toBe(false)
        expect(yield* sessions.of(alice)).toEqual([])
        expect(yield* sessions.begin(session(4), { sealedPassword: "new" })).toBe(true)
        expect(yield* sessions.of(alice)).toEqual([session(4)])
      }),
    )

    it(
      "begin before their secret is replaced and end with it, or do not begin, when both happen concurrently",
      Effect.gen(function* () {
        const { sessions, users } = yield* withUsers
        for (let n = 0; n < 10; n++) {
          const { apiKeyHash } = (yield* users.forAuthentication(alice))!.secrets
          const replace = users.setSecrets(alice, { apiKeyHash: `key ${n}` })
          yield* Effect.all([sessions.begin(session(n), { apiKeyHash }), replace], { concurrency: 2 })
          expect(yield* sessions.of(alice)).toEqual([])
        }
      }),
    )

    it(
      "end with the user, and with the loss of administrator rights",
      Effect.gen(function* () {
        const { begin, sessions, users } = yield* withUsers
        yield* begin(session(1))
        yield* users.setAdmin(alice, true)
        expect(yield* sessions.find(session(1).hash)).toBeDefined()
        yield* users.setAdmin(alice, false)
        expect(yield* sessions.find(session(1).hash)).toBeUndefined()
        yield* begin(session(1))
        yield* users.remove(alice)
        expect(yield* sessions.find(session(1).hash)).toBeUndefined()
        yield* users.create(newUser("alice"))
        expect(yield* sessions.of(alice)).toEqual([])
      }),
    )
  })
