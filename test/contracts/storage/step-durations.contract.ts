import { mostDurations, mostOwnDurations, StepDurations, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { describe, expect, type SuiteCollector } from "vitest"
import { hostileText, newUser, userId } from "./samples.ts"
import { promises, type StorageUnderTest } from "./storage-under-test.ts"

const alice = userId("alice")
const bob = userId("bob")

const both = Effect.gen(function* () {
  const users = yield* Users
  yield* users.create(newUser("alice"))
  yield* users.create(newUser("bob"))
  return yield* StepDurations
})

export const stepDurationsContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: durations of steps`, () => {
    const it = promises(storage)

    it(
      "knows nothing at first, and then what was learned, for everybody",
      Effect.gen(function* () {
        const durations = yield* both
        expect(yield* durations.known(alice)).toEqual(new Map())
        yield* durations.learn(alice, new Map())
        yield* durations.learn(
          alice,
          new Map([
            ["role shop", 12.345],
            [hostileText, 7],
          ]),
        )
        const known = new Map([
          ["role shop", 12.3],
          [hostileText, 7],
        ])
        expect(yield* durations.known(alice)).toEqual(known)
        expect(yield* durations.known(bob)).toEqual(known)
        expect(yield* durations.known(userId("nobody"))).toEqual(known)
      }),
    )

    it(
      "averages the first runs, then follows the last ones, and leaves other names alone",
      Effect.gen(function* () {
        const durations = yield* both
        yield* durations.learn(
          alice,
          new Map([
            ["a", 100],
            ["b", 5],
          ]),
        )
        yield* durations.learn(bob, new Map([["a", 200]]))
        expect(yield* durations.known(alice)).toEqual(
          new Map([
            ["a", 150],
            ["b", 5],
          ]),
        )
        yield* durations.learn(bob, new Map([["a", 300]]))
        expect((yield* durations.known(alice)).get("a")).toBe(200)
        for (let runs = 0; runs < 30; runs++) yield* durations.learn(bob, new Map([["a", 1000]]))
        expect((yield* durations.known(alice)).get("a")).toBeGreaterThan(990)
        yield* durations.learn(
          alice,
          new Map([
            ["a", 0],
            ["c", 0],
          ]),
        )
        expect((yield* durations.known(alice)).get("a")).toBeGreaterThan(700)
        expect((yield* durations.known(alice)).get("c")).toBe(0.1)
      }),
    )

    it(
      "loses no run of several that end at once",
      Effect.gen(function* () {
        const durations = yield* both
        yield* Effect.all(
          [10, 20, 30].map((seconds) =>
            durations.learn(
              alice,
              new Map([
                ["a", seconds],
                ["own b", seconds],
              ]),
            ),
          ),
          { concurrency: "unbounded" },
        )
        expect(yield* durations.known(alice)).toEqual(
          new Map([
            ["a", 20],
            ["own b", 20],
          ]),
        )
      }),
    )

    it(
      "keeps a user's own work to the user, and forgets it with the user",
      Effect.gen(function* () {
        const durations = yield* both
        yield* durations.learn(
          alice,
          new Map([
            ["own role secret", 60],
            ["role shop", 1],
          ]),
        )
        yield* durations.learn(bob, new Map([["own role secret", 10]]))
        yield* durations.learn(
          userId("nobody"),
          new Map([
            ["own role secret", 5],
            ["role bar", 2],
          ]),
        )
        const everybodys = [
          ["role shop", 1],
          ["role bar", 2],
        ] as const
        expect(yield* durations.known(alice)).toEqual(new Map([...everybodys, ["own role secret", 60]]))
        expect(yield* durations.known(bob)).toEqual(new Map([...everybodys, ["own role secret", 10]]))
        expect(yield* durations.known(userId("nobody"))).toEqual(new Map(everybodys))
        const users = yield* Users
        yield* users.remove(alice)
        yield* users.create(newUser("alice"))
        expect(yield* durations.known(alice)).toEqual(new Map(everybodys))
      }),
    )

    it(
      "forgets the names that were not added to for the longest time when there are too many, each user's apart",
      Effect.gen(function* () {
        const durations = yield* both
        const flood = (from: number, to: number) =>
          new Map(Array.from({ length: to - from }, (_, i) => [`own role ${from + i}`, 1] as const))
        yield* durations.learn(
          alice,
          new Map([
            ["own role old", 1],
            ["own role used", 2],
          ]),
        )
        yield* durations.learn(
          bob,
          new Map([
            ["own role bobs", 3],
            ["shared", 4],
          ]),
        )
        yield* TestClock.adjust("1 minute")
        yield* durations.learn(alice, flood(0, mostOwnDurations - 2))
        expect((yield* durations.known(alice)).size).toBe(mostOwnDurations + 1)
        yield* TestClock.adjust("1 minute")
        yield* durations.learn(
          alice,
          new Map([
            ["own role used", 2],
            ["own role new", 1],
          ]),
        )
        const known = yield* durations.known(alice)
        expect(known.size).toBe(mostOwnDurations + 1)
        expect(known.has("own role old")).toBe(false)
        expect(known.get("own role used")).toBe(2)
        yield* TestClock.adjust("1 minute")
        yield* durations.learn(alice, flood(1000, 3000))
        expect((yield* durations.known(alice)).size).toBe(mostOwnDurations + 1)
        expect(yield* durations.known(bob)).toEqual(
          new Map([
            ["own role bobs", 3],
            ["shared", 4],
          ]),
        )
        yield* TestClock.adjust("1 minute")
        yield* durations.learn(bob, new Map(Array.from({ length: mostDurations + 5 }, (_, i) => [`w ${i}`, 1] as const)))
        expect((yield* durations.known(bob)).size).toBe(mostDurations + 1)
        expect((yield* durations.known(bob)).has("shared")).toBe(false)
      }),
    )
  })
