import { UserNotFound } from "@rangewright/domain"
import { Users, VpnRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, type SuiteCollector } from "vitest"
import { newUser, userId } from "./samples.ts"
import { promises, type StorageUnderTest } from "./storage-under-test.ts"

const alice = userId("alice")
const bob = userId("bob")
const key = (name: string) => ({ publicKey: name.padEnd(43, "A") + "=", sealed: `sealed ${name}` })

export const vpnRecordsContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: keys for the VPN`, () => {
    const it = promises(storage)

    it(
      "are kept for each user; the first stays until it is replaced, and goes with the user",
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
  })
