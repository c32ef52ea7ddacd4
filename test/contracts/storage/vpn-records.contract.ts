import { type GroupName, nothingHeldByVpn, UserNotFound, userNumberRestMillis } from "@rangewright/domain"
import { AccessRecords, beingTold, Groups, Ranges, StaleVersion, Users, VpnRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, type SuiteCollector } from "vitest"
import { newGroup, newRange, newUser, rangeId, userId } from "./samples.ts"
import { pass, promises, type StorageUnderTest } from "./storage-under-test.ts"

const alice = userId("alice")
const bob = userId("bob")
const key = (name: string) => ({ publicKey: name.padEnd(43, "A") + "=", sealed: `sealed ${name}` })

export const vpnRecordsContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: VPN keys`, () => {
    const it = promises(storage)

    it(
      "are stored for each user; the first stays until it is replaced, and is removed with the user",
      Effect.gen(function* () {
        const users = yield* Users
        const records = yield* VpnRecords
        yield* users.create(newUser("ROOT"))
        yield* users.create(newUser("alice"))
        yield* users.create(newUser("bob"))
        expect([yield* records.key(alice), yield* records.keyless]).toEqual([undefined, [alice, bob]])
        yield* records.giveKey(alice, key("one"))
        yield* records.giveKey(alice, key("two"))
        expect([yield* records.key(alice), yield* records.key(bob), yield* records.keyless]).toEqual([
          key("one"),
          undefined,
          [bob],
        ])
        yield* records.replaceKey(alice, key("two"))
        yield* records.replaceKey(bob, key("three"))
        expect([yield* records.key(alice), yield* records.key(bob), yield* records.keyless]).toEqual([
          key("two"),
          key("three"),
          [],
        ])
        yield* users.remove(alice)
        yield* users.create(newUser("alice"))
        expect([yield* records.key(alice), yield* records.keyless]).toEqual([undefined, [alice]])
      }),
    )

    it(
      "belong to one user that exists",
      Effect.gen(function* () {
        yield* (yield* Users).create(newUser("alice"))
        const records = yield* VpnRecords
        for (const write of [records.giveKey, records.replaceKey])
          expect(yield* Effect.flip(write(bob, key("one")))).toBeInstanceOf(UserNotFound)
        yield* (yield* Users).create(newUser("bob"))
        yield* records.giveKey(alice, key("one"))
        expect((yield* Effect.flip(records.giveKey(bob, key("one"))))._tag).toBe("StorageFault")
        expect(yield* records.key(bob)).toBeUndefined()
      }),
    )

    it(
      "lead to members: each user who has a key, with every range once, whatever the path",
      Effect.gen(function* () {
        const users = yield* Users
        const ranges = yield* Ranges
        const groups = yield* Groups
        const records = yield* VpnRecords
        expect(yield* records.members).toEqual([])
        for (const id of ["alice", "bob", "carol"]) yield* users.create(newUser(id))
        const one = yield* ranges.create(newRange("ONE", { owners: [alice] }))
        const two = yield* ranges.create(newRange("TWO", { owners: [alice] }))
        const red = "red" as GroupName
        yield* groups.create(newGroup(red))
        yield* groups.setRoles(red, new Map([[alice, "member"] as const, [bob, "manager"] as const]))
        yield* groups.addRange(red, one.id)
        yield* records.giveKey(bob, key("B"))
        yield* records.giveKey(alice, key("A"))
        const member = (userNumber: number, name: string, ...rangeNumbers: readonly number[]) => ({
          userNumber,
          publicKey: key(name).publicKey,
          rangeNumbers,
        })
        expect(yield* records.members).toEqual([member(2, "A", one.number, two.number), member(3, "B", one.number)])
        yield* ranges.remove(one.id)
        expect(yield* records.members).toEqual([member(2, "A", two.number), member(3, "B")])
        yield* users.remove(alice)
        expect(yield* records.members).toEqual([member(3, "B")])
      }),
    )

    it(
      "are stored next to the server's state, which one writer changes at a time",
      Effect.gen(function* () {
        const records = yield* VpnRecords
        expect(yield* records.held).toEqual({ held: nothingHeldByVpn, version: 0 })
        const held = {
          ...nothingHeldByVpn,
          has: [{ userNumber: 2, publicKey: "A", rangeNumbers: [7] }],
          trouble: "nobody answers",
        }
        yield* records.hold(nothingHeldByVpn, 0)
        expect(yield* Effect.flip(records.hold(held, 0))).toBeInstanceOf(StaleVersion)
        yield* records.hold(held, 1)
        expect(yield* Effect.flip(records.hold(nothingHeldByVpn, 1))).toBeInstanceOf(StaleVersion)
        expect(yield* records.held).toEqual({ held, version: 2 })
      }),
    )

    it(
      "reserve a removed user's number until the server and all routers have forgotten it",
      Effect.gen(function* () {
        const users = yield* Users
        const records = yield* VpnRecords
        const { tell } = yield* AccessRecords
        yield* (yield* Ranges).create(newRange("LAB"))
        const { number } = yield* users.create(newUser("alice"))
        const has = [{ userNumber: number, publicKey: "A", rangeNumbers: [] }]
        yield* records.hold({ ...nothingHeldByVpn, adding: has }, 0)
        yield* tell(rangeId("LAB"), [number])
        yield* users.remove(alice)
        yield* pass(storage, userNumberRestMillis / 1000)
        expect((yield* users.create(newUser("u1"))).number).not.toBe(number)
        yield* records.hold({ ...nothingHeldByVpn, unseen: true }, 1)
        yield* tell(rangeId("LAB"), [])
        expect((yield* users.create(newUser("u0"))).number).not.toBe(number)
        yield* tell(rangeId("LAB"), [number])
        yield* records.hold(nothingHeldByVpn, 2)
        expect((yield* users.create(newUser("u2"))).number).not.toBe(number)
        yield* tell(rangeId("LAB"), [beingTold])
        expect((yield* users.create(newUser("u3"))).number).not.toBe(number)
        yield* tell(rangeId("LAB"), [])
        expect((yield* users.create(newUser("u4"))).number).toBe(number)
      }),
    )
  })
