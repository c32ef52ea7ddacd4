import type { Identity } from "@rangewright/domain"
import { Identities, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, type SuiteCollector } from "vitest"
import { newUser, userId } from "./samples.ts"
import { later, pass, promises, startedAt, type StorageUnderTest } from "./storage-under-test.ts"

const identity = (user: string, subject: string, issuer = "https://login.example/"): Identity => ({
  issuer,
  subject,
  userId: userId(user),
  createdAt: startedAt,
})
const nobodySpecial = { administrators: false }

const people = Effect.gen(function* () {
  const users = yield* Users
  yield* users.create(newUser("alice"))
  yield* users.create(newUser("bob"))
  yield* users.create(newUser("ada", { isAdmin: true }))
  return yield* Identities
})

export const identitiesContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: identities at a provider`, () => {
    const it = promises(storage)

    it(
      "are linked to one user each, and a user to one of them for each provider",
      Effect.gen(function* () {
        const identities = yield* people
        const own = identity("alice", "248289761001")
        expect(yield* identities.link(own, nobodySpecial)).toBe("linked")
        expect(yield* identities.find(own)).toEqual(own)
        expect(yield* identities.find({ ...own, subject: "24828976100" })).toBeUndefined()
        expect(yield* identities.find({ ...own, issuer: "https://login.example" })).toBeUndefined()
        expect(yield* identities.link(own, nobodySpecial)).toBe("person-taken")
        expect(yield* identities.link({ ...own, userId: userId("bob") }, nobodySpecial)).toBe("person-taken")
        expect(yield* identities.link({ ...own, subject: "another" }, nobodySpecial)).toBe("user-taken")
        const elsewhere = identity("alice", "248289761001", "https://other.example/")
        expect(yield* identities.link(elsewhere, nobodySpecial)).toBe("linked")
        expect(yield* identities.ofUser(userId("alice"))).toEqual([own, elsewhere])
        expect(yield* identities.unlink(userId("alice"))).toBe(2)
        expect(yield* identities.unlink(userId("alice"))).toBe(0)
        expect(yield* identities.find(own)).toBeUndefined()
        expect(yield* identities.link({ ...own, userId: userId("bob") }, nobodySpecial)).toBe("linked")
      }),
    )

    it(
      "are linked to administrators only on request, and to no missing user",
      Effect.gen(function* () {
        const identities = yield* people
        const ada = identity("ada", "1")
        expect(yield* identities.link(ada, nobodySpecial)).toBe("administrator")
        expect(yield* identities.find(ada)).toBeUndefined()
        expect(yield* identities.link(ada, { administrators: true })).toBe("linked")
        expect(yield* Effect.flip(identities.link(identity("nobody", "2"), nobodySpecial))).toMatchObject({
          _tag: "UserNotFound",
        })
      }),
    )

    it(
      "are removed with their user",
      Effect.gen(function* () {
        const identities = yield* people
        yield* identities.link(identity("alice", "1"), nobodySpecial)
        yield* (yield* Users).remove(userId("alice"))
        expect(yield* identities.find(identity("alice", "1"))).toBeUndefined()
        yield* (yield* Users).create(newUser("alice"))
        expect(yield* identities.ofUser(userId("alice"))).toEqual([])
      }),
    )

    it(
      "are linked once under concurrent requests, and each sign-in counts once",
      Effect.gen(function* () {
        const identities = yield* people
        const many = <A, E>(effect: Effect.Effect<A, E>) =>
          Effect.all(
            Array.from({ length: 16 }, () => effect),
            { concurrency: "unbounded" },
          )
        const linked = yield* many(identities.link(identity("alice", "1"), nobodySpecial))
        expect(linked.filter((outcome) => outcome === "linked")).toHaveLength(1)
        const signIn = { hash: "a".repeat(64), expiresAt: later(600) }
        expect((yield* many(identities.spend(signIn))).filter(Boolean)).toHaveLength(1)
        yield* pass(storage, 599)
        expect(yield* identities.spend(signIn)).toBe(false)
        expect(yield* identities.spend({ hash: "b".repeat(64), expiresAt: later(1200) })).toBe(true)
        yield* pass(storage, 1)
        // deleted: it could no longer have been repeated
        expect(yield* identities.spend({ ...signIn, expiresAt: later(1200) })).toBe(true)
      }),
    )
  })
