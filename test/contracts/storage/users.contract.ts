import { LastAdministrator, rootUserId, UserExists, UserNotFound } from "@rangewright/domain"
import { Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect, type SuiteCollector } from "vitest"
import { aliceWithLab, hostileText, hostileTexts, newRange, newUser, rangeId, userId } from "./samples.ts"
import { later, promises, startedAt, type StorageUnderTest } from "./storage-under-test.ts"

export const usersContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: users`, () => {
    const it = promises(storage)

    it(
      "finds a created user by id, record and email address, however the address is written",
      Effect.gen(function* () {
        const users = yield* Users
        const made = yield* users.create(newUser("alice", { email: "Alice@Example.test" }))
        expect(made).toEqual({
          id: "alice",
          recordId: "alicez000000000",
          number: 2,
          name: "Name of alice",
          email: "Alice@Example.test",
          isAdmin: false,
          hypervisorUsername: "alice",
          hypervisorRealm: "pve",
          defaultRangeId: undefined,
          hasCompletedOnboarding: false,
          createdAt: startedAt,
          updatedAt: startedAt,
          lastActiveAt: undefined,
        })
        expect(yield* users.find(made.id)).toEqual(made)
        expect(yield* users.findByRecordId(made.recordId)).toEqual(made)
        expect(yield* users.findByEmail("aLICE@example.TEST")).toEqual(made)
        expect(yield* users.find(userId("bob"))).toBeUndefined()
        expect(yield* users.findByEmail("")).toBeUndefined()
      }),
    )

    it(
      "refuses a second user with the same id, hypervisor account or email address",
      Effect.gen(function* () {
        const users = yield* Users
        yield* users.create(newUser("alice"))
        const refused = (over: Parameters<typeof newUser>[1], id = "bob") => Effect.flip(users.create(newUser(id, over)))
        expect(yield* refused({}, "alice")).toMatchObject({ _tag: "UserExists", facts: { field: "userID", value: "alice" } })
        expect(yield* refused({ hypervisorUsername: "alice" })).toMatchObject({ facts: { field: "name" } })
        expect(yield* refused({ email: "ALICE@example.test" })).toBeInstanceOf(UserExists)
        expect(yield* users.list).toHaveLength(1)
        yield* users.create(newUser("bob", { hypervisorUsername: "alice", hypervisorRealm: "pam", email: "" }))
        yield* users.create(newUser("carol", { email: "" }))
        expect((yield* users.list).map((user) => user.id)).toEqual(["alice", "bob", "carol"])
      }),
    )

    it(
      "gives ROOT number 1 and everybody else the lowest free number from 2 on",
      Effect.gen(function* () {
        const users = yield* Users
        for (const id of ["alice", rootUserId, "bob"]) yield* users.create(newUser(id))
        expect((yield* users.list).map((user) => [user.id, user.number])).toEqual([
          ["ROOT", 1],
          ["alice", 2],
          ["bob", 3],
        ])
      }),
    )

    it(
      "gives a requested number if it is free and allowed, and otherwise the lowest free one",
      Effect.gen(function* () {
        const users = yield* Users
        const wish = (id: string, number: number) => Effect.map(users.create({ ...newUser(id), number }), (made) => made.number)
        expect(yield* wish("alice", 40)).toBe(40)
        expect(yield* wish("bob", 40)).toBe(2)
        expect(yield* wish("carol", 1)).toBe(3)
        expect(yield* wish("dave", 999)).toBe(4)
      }),
    )

    it(
      "reserves the number of a removed user for a day",
      Effect.gen(function* () {
        const users = yield* Users
        yield* users.create(newUser("alice"))
        yield* users.remove(userId("alice"))
        yield* TestClock.adjust("23 hours")
        expect((yield* users.create(newUser("bob"))).number).toBe(3)
        yield* TestClock.adjust("1 hour")
        expect((yield* users.create(newUser("carol"))).number).toBe(2)
      }),
    )

    it(
      "reserves the number of a user who was removed before the clock was set back for a day from then on",
      Effect.gen(function* () {
        const users = yield* Users
        yield* users.create(newUser("alice"))
        yield* TestClock.adjust("900 days")
        yield* users.remove(userId("alice"))
        yield* TestClock.setTime(startedAt.getTime())
        expect((yield* users.create(newUser("bob"))).number).toBe(3)
        yield* TestClock.adjust("1 day")
        expect((yield* users.create(newUser("carol"))).number).toBe(2)
      }),
    )

    it(
      "has 149 numbers to give, then none",
      Effect.gen(function* () {
        const users = yield* Users
        for (let n = 2; n <= 150; n++) expect((yield* users.create(newUser(`u${n}`))).number).toBe(n)
        expect(yield* Effect.flip(users.create(newUser("late")))).toMatchObject({ _tag: "Exhausted", kind: "exhausted" })
        expect(yield* users.find(userId("late"))).toBeUndefined()
      }),
    )

    it(
      "gives different numbers to users created concurrently",
      Effect.gen(function* () {
        const users = yield* Users
        const ids = Array.from({ length: 20 }, (_, i) => `user${i}`)
        const made = yield* Effect.forEach(ids, (id) => users.create(newUser(id)), { concurrency: "unbounded" })
        expect(new Set(made.map((user) => user.number)).size).toBe(20)
        const same = yield* Effect.all(
          ids.map(() => Effect.result(users.create(newUser("twin")))),
          { concurrency: "unbounded" },
        )
        expect(same.filter((result) => result._tag === "Success")).toHaveLength(1)
      }),
    )

    it(
      "changes only the named fields",
      Effect.gen(function* () {
        const users = yield* Users
        const made = yield* users.create(newUser("alice"))
        yield* TestClock.setTime(later(60).getTime())
        const changed = yield* users.change(made.id, { defaultRangeId: rangeId("LAB") })
        expect(changed).toEqual({ ...made, defaultRangeId: "LAB", updatedAt: later(60) })
        const onboarded = yield* users.change(made.id, { hasCompletedOnboarding: true, name: "A" })
        expect(onboarded).toEqual({ ...changed, hasCompletedOnboarding: true, name: "A" })
        expect((yield* users.change(made.id, { defaultRangeId: undefined })).defaultRangeId).toBeUndefined()
        expect(yield* users.find(made.id)).toEqual({ ...onboarded, defaultRangeId: undefined })
        expect(yield* Effect.flip(users.change(userId("bob"), { name: "B" }))).toBeInstanceOf(UserNotFound)
      }),
    )

    it(
      "promotes administrators, and demotes all but the last one besides ROOT",
      Effect.gen(function* () {
        const users = yield* Users
        const alice = yield* users.create(newUser("alice"))
        const bob = yield* users.create(newUser("bob"))
        yield* users.create({ ...newUser(rootUserId), isAdmin: true })
        yield* TestClock.setTime(later(60).getTime())
        const promoted = yield* users.setAdmin(alice.id, true)
        expect(promoted).toEqual({ ...alice, isAdmin: true, updatedAt: later(60) })
        expect((yield* users.forAuthentication(alice.id))?.user).toEqual(promoted)
        expect(yield* Effect.flip(users.setAdmin(alice.id, false))).toBeInstanceOf(LastAdministrator)
        expect(yield* users.find(alice.id)).toEqual(promoted)
        // a user who is none loses nothing
        expect((yield* users.setAdmin(bob.id, false)).isAdmin).toBe(false)
        yield* users.setAdmin(bob.id, true)
        expect((yield* users.setAdmin(alice.id, false)).isAdmin).toBe(false)
        expect(yield* Effect.flip(users.setAdmin(userId("nobody"), true))).toBeInstanceOf(UserNotFound)
      }),
    )

    it(
      "keeps one of two administrators who demote each other concurrently",
      Effect.gen(function* () {
        const users = yield* Users
        const ids = ["alice", "bob", "carol"]
        for (const id of ids) yield* users.create({ ...newUser(id), isAdmin: true })
        const taken = yield* Effect.all(
          ids.map((id) => Effect.result(users.setAdmin(userId(id), false))),
          { concurrency: "unbounded" },
        )
        expect(taken.filter((result) => result._tag === "Success")).toHaveLength(2)
        expect((yield* users.list).filter((user) => user.isAdmin)).toHaveLength(1)
      }),
    )

    it(
      "keeps secrets separate from the user and changes only the named ones",
      Effect.gen(function* () {
        const users = yield* Users
        const { secrets } = newUser("alice")
        const user = yield* users.create(newUser("alice"))
        expect(yield* users.forAuthentication(user.id)).toEqual({ user, secrets })
        yield* users.setSecrets(user.id, { sealedPassword: "sealed", apiKeyHash: undefined })
        expect((yield* users.forAuthentication(user.id))?.secrets).toEqual({
          apiKeyHash: undefined,
          sealedPassword: "sealed",
          tokenKey: "key of alice",
        })
        yield* users.setSecrets(user.id, { tokenKey: "new" })
        expect((yield* users.forAuthentication(user.id))?.secrets.sealedPassword).toBe("sealed")
        expect(yield* users.forAuthentication(userId("bob"))).toBeUndefined()
        expect(yield* Effect.flip(users.setSecrets(userId("bob"), { tokenKey: "x" }))).toBeInstanceOf(UserNotFound)
      }),
    )

    it(
      "rehashes a key only while it is the same key",
      Effect.gen(function* () {
        const users = yield* Users
        const { id } = yield* users.create(newUser("alice"))
        const hashOf = Effect.map(users.forAuthentication(id), (found) => found?.secrets.apiKeyHash)
        yield* users.setSecrets(id, { apiKeyHash: "old" })
        yield* users.setSecrets(id, { apiKeyHash: "anew" }, { whileApiKeyHash: "old" })
        expect(yield* hashOf).toBe("anew")
        yield* users.setSecrets(id, { apiKeyHash: "old once more" }, { whileApiKeyHash: "old" })
        expect(yield* hashOf).toBe("anew")
      }),
    )

    it(
      "removes a user with the user's grants; removing again changes nothing",
      Effect.gen(function* () {
        const { user, range } = yield* aliceWithLab
        const users = yield* Users
        const ranges = yield* Ranges
        yield* users.remove(user.id)
        yield* users.remove(user.id)
        expect(yield* users.find(user.id)).toBeUndefined()
        expect(yield* ranges.grants(range.id)).toEqual([])
        expect(yield* ranges.find(range.id)).toEqual({ ...range, createdBy: undefined, madeFor: undefined })
        yield* users.create(newUser("alice"))
        expect(yield* ranges.grantsOf(user.id)).toEqual([])
      }),
    )

    it(
      "records activity of many users at once, never backwards, and skips unknown ones",
      Effect.gen(function* () {
        const users = yield* Users
        const alice = yield* users.create(newUser("alice"))
        const bob = yield* users.create(newUser("bob"))
        yield* users.touch(
          new Map([
            [alice.id, later(20)],
            [bob.id, later(5)],
            [userId("nobody"), later(5)],
          ]),
        )
        yield* users.touch(new Map([[alice.id, later(10)]]))
        yield* users.touch(new Map())
        expect((yield* users.list).map((user) => user.lastActiveAt)).toEqual([later(20), later(5)])
        expect((yield* users.find(alice.id))?.updatedAt).toEqual(alice.updatedAt)
      }),
    )

    it(
      "keeps any text unchanged and finds nothing by impossible ids",
      Effect.gen(function* () {
        const users = yield* Users
        const ranges = yield* Ranges
        for (const [i, name] of hostileTexts.entries()) {
          const made = yield* users.create(newUser(`u${i}`, { name, secrets: { ...newUser("x").secrets, tokenKey: name } }))
          expect(yield* users.forAuthentication(made.id)).toMatchObject({ user: { name }, secrets: { tokenKey: name } })
        }
        expect(yield* users.find(userId(hostileText))).toBeUndefined()
        expect(yield* users.findByEmail(hostileText)).toBeUndefined()
        expect(yield* users.forAuthentication(userId("u0' or '1'='1"))).toBeUndefined()
        yield* users.remove(userId("u0' or '1'='1"))
        expect(yield* users.list).toHaveLength(hostileTexts.length)
        expect(yield* ranges.create(newRange("LAB", { name: hostileText }))).toMatchObject({ name: hostileText })
        expect(yield* ranges.find(rangeId("LAB"))).toMatchObject({ name: hostileText })
      }),
    )
  })
