import { RangeNotFound, UserNotFound, type Vmid } from "@rangewright/domain"
import { type ConsoleTicket, ConsoleTickets, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, type SuiteCollector } from "vitest"
import { newRange, newUser, rangeId, userId } from "./samples.ts"
import { later, pass, promises, type StorageUnderTest } from "./storage-under-test.ts"

const ticket = (hash: string, more: Partial<ConsoleTicket> = {}): ConsoleTicket => ({
  hash,
  callerId: userId("admin"),
  userId: userId("alice"),
  rangeId: rangeId("LAB"),
  vmid: 141 as Vmid,
  origin: "https://lab.example:8443",
  expiresAt: later(30),
  ...more,
})

const lab = Effect.gen(function* () {
  const users = yield* Users
  yield* users.create(newUser("admin"))
  yield* users.create(newUser("alice"))
  yield* (yield* Ranges).create(newRange("LAB"))
  return yield* ConsoleTickets
})

export const consoleTicketsContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: console tickets`, () => {
    const it = promises(storage)

    it(
      "gives a ticket to its first user, as it was stored",
      Effect.gen(function* () {
        const tickets = yield* lab
        const second = ticket("b".repeat(64), { origin: undefined })
        yield* tickets.issue(ticket("a".repeat(64)))
        yield* tickets.issue(second)
        expect(yield* tickets.take("c".repeat(64))).toBeUndefined()
        expect(yield* tickets.take("a".repeat(64))).toEqual(ticket("a".repeat(64)))
        expect(yield* tickets.take("a".repeat(64))).toBeUndefined()
        expect(yield* tickets.take("b".repeat(64))).toEqual(second)
      }),
    )

    it(
      "gives it to one of many concurrent users",
      Effect.gen(function* () {
        const tickets = yield* lab
        yield* tickets.issue(ticket("a"))
        const taken = yield* Effect.all(
          Array.from({ length: 16 }, () => tickets.take("a")),
          { concurrency: "unbounded" },
        )
        expect(taken.filter((one) => one !== undefined)).toHaveLength(1)
      }),
    )

    it(
      "gives no expired ticket, and deletes it with the next one",
      Effect.gen(function* () {
        const tickets = yield* lab
        yield* tickets.issue(ticket("a"))
        yield* pass(storage, 29)
        yield* tickets.issue(ticket("b", { expiresAt: later(59) }))
        yield* pass(storage, 1)
        expect(yield* tickets.take("a")).toBeUndefined()
        expect(yield* tickets.take("b")).toBeDefined()
        yield* tickets.issue(ticket("c", { expiresAt: later(31) }))
        yield* pass(storage, 1)
        // the same again is no duplicate: the old one was deleted
        yield* tickets.issue(ticket("c", { expiresAt: later(60) }))
        expect(yield* tickets.take("c")).toMatchObject({ expiresAt: later(60) })
      }),
    )

    it(
      "deletes tickets with their users and range, and stores none for missing ones",
      Effect.gen(function* () {
        const tickets = yield* lab
        for (const hash of ["user", "caller", "range"]) yield* tickets.issue(ticket(hash))
        yield* (yield* Users).remove(userId("alice"))
        expect(yield* tickets.take("user")).toBeUndefined()
        expect(yield* Effect.flip(tickets.issue(ticket("d")))).toBeInstanceOf(UserNotFound)
        yield* (yield* Users).create(newUser("alice"))
        yield* tickets.issue(ticket("caller"))
        yield* (yield* Users).remove(userId("admin"))
        expect(yield* tickets.take("caller")).toBeUndefined()
        yield* (yield* Users).create(newUser("admin"))
        yield* tickets.issue(ticket("range"))
        yield* (yield* Ranges).remove(rangeId("LAB"))
        expect(yield* tickets.take("range")).toBeUndefined()
        expect(yield* Effect.flip(tickets.issue(ticket("d")))).toBeInstanceOf(RangeNotFound)
      }),
    )
  })
