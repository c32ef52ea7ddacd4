import { type ScopedKey, scopedKeysAtMost } from "@rangewright/domain"
import { Ranges, ScopedKeys, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, type SuiteCollector } from "vitest"
import { newRange, newUser, rangeId, userId } from "./samples.ts"
import { later, promises, startedAt, type StorageUnderTest } from "./storage-under-test.ts"

const key = (id: string, more: Partial<ScopedKey> = {}): ScopedKey => ({
  id: id.padEnd(12, "0"),
  userId: userId("alice"),
  name: "für das Dashboard",
  hash: "a".repeat(64),
  scope: { kind: "read" },
  createdAt: startedAt,
  expiresAt: later(60),
  ...more,
})

const people = Effect.gen(function* () {
  const users = yield* Users
  yield* users.create(newUser("alice"))
  yield* users.create(newUser("bob"))
  yield* (yield* Ranges).create(newRange("LAB"))
  return yield* ScopedKeys
})

export const scopedKeysContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: scoped keys`, () => {
    const it = promises(storage)

    it(
      "are stored as created, and removed only by their owner",
      Effect.gen(function* () {
        const keys = yield* people
        const first = key("first")
        const second = key("second", { scope: { kind: "range", rangeId: rangeId("LAB") }, createdAt: later(1) })
        yield* keys.create(second)
        yield* keys.create(first)
        expect(yield* keys.ofUser(userId("alice"))).toEqual([first, second])
        expect(yield* keys.ofUser(userId("bob"))).toEqual([])
        expect(yield* keys.find(first.id)).toEqual(first)
        expect(yield* keys.find("x".repeat(12))).toBeUndefined()
        expect(yield* keys.remove(userId("bob"), first.id)).toBe(false)
        expect(yield* keys.remove(userId("alice"), first.id)).toBe(true)
        expect(yield* keys.remove(userId("alice"), first.id)).toBe(false)
        expect(yield* keys.ofUser(userId("alice"))).toEqual([second])
        expect(yield* keys.remove(undefined, second.id)).toBe(true)
        expect(yield* keys.remove(undefined, second.id)).toBe(false)
      }),
    )

    it(
      "are removed with their user and with their range, and cannot be created for missing ones",
      Effect.gen(function* () {
        const keys = yield* people
        yield* keys.create(key("read"))
        yield* keys.create(key("range", { scope: { kind: "range", rangeId: rangeId("LAB") } }))
        yield* (yield* Ranges).remove(rangeId("LAB"))
        expect((yield* keys.ofUser(userId("alice"))).map(({ scope }) => scope.kind)).toEqual(["read"])
        yield* (yield* Users).remove(userId("alice"))
        expect(yield* keys.find(key("read").id)).toBeUndefined()
        expect(yield* Effect.flip(keys.create(key("gone")))).toMatchObject({ _tag: "UserNotFound" })
        const gone = key("gone", { userId: userId("bob"), scope: { kind: "range", rangeId: rangeId("LAB") } })
        expect(yield* Effect.flip(keys.create(gone))).toMatchObject({ _tag: "RangeNotFound" })
      }),
    )

    it(
      "are removed with a new password or key of their user, but not with a better hash of the same key",
      Effect.gen(function* () {
        const keys = yield* people
        const users = yield* Users
        const other = key("other", { userId: userId("bob") })
        yield* keys.create(other)
        for (const secrets of [{ apiKeyHash: "x" }, { sealedPassword: "y", tokenKey: "z" }]) {
          yield* keys.create(key("mine"))
          yield* users.setSecrets(userId("alice"), secrets)
          expect(yield* keys.find(key("mine").id)).toBeUndefined()
          expect(yield* keys.find(other.id)).toEqual(other)
        }
        yield* keys.create(key("mine"))
        yield* users.setSecrets(userId("alice"), { apiKeyHash: "better" }, { whileApiKeyHash: "x" })
        expect(yield* keys.find(key("mine").id)).toEqual(key("mine"))
      }),
    )

    it(
      "are limited for each user, even under concurrent requests, and expired ones make room",
      Effect.gen(function* () {
        const keys = yield* people
        yield* keys.create(key("old", { expiresAt: startedAt }))
        yield* keys.create(key("other", { userId: userId("bob") }))
        const made = yield* Effect.forEach(
          Array.from({ length: scopedKeysAtMost + 3 }, (_, i) => key(`k${i}x`)),
          (one) => Effect.result(keys.create(one)),
          { concurrency: 8 },
        )
        expect(made.filter(({ _tag }) => _tag === "Success")).toHaveLength(scopedKeysAtMost)
        expect(yield* keys.find(key("old").id)).toBeUndefined()
        expect(yield* keys.ofUser(userId("alice"))).toHaveLength(scopedKeysAtMost)
      }),
    )
  })
