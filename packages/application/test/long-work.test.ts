import type { UserId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { describe, expect, test } from "vitest"
import { inOwnTurn, longRead, longWork, Requester } from "../src/operation/long-work.ts"

const asks = (user: string, done: string[], times: number) =>
  Array.from({ length: times }, () =>
    Effect.provideService(
      longWork(() => void done.push(user)),
      Requester,
      user as UserId,
    ),
  )

/** Runs this ten times concurrently, and returns the number of turns of the event loop that it took. */
const turnsOf = async (work: (done: () => void) => Effect.Effect<void>): Promise<number> => {
  let turns = 0
  let goesOn = true
  const count = (): void => {
    turns++
    if (goesOn) setImmediate(count)
  }
  setImmediate(count)
  const seen = new Set<number>()
  const all = Array.from({ length: 10 }, () => work(() => void seen.add(turns)))
  await Effect.runPromise(Effect.all(all, { concurrency: "unbounded", discard: true }))
  goesOn = false
  return seen.size
}

describe("reading what is stored", () => {
  test("is done once at a time for each user, with others answered before each", async () => {
    let reading = 0
    const read = (done: () => void) =>
      longRead(
        Effect.gen(function* () {
          done()
          expect(++reading).toBe(1)
          yield* Effect.yieldNow
          reading--
        }),
      )
    expect(await turnsOf(read)).toBe(10)
  })
})

describe("work that keeps the processor for a while", () => {
  test("takes turns between users, however much one of them asks for", async () => {
    const done: string[] = []
    const all = [...asks("greedy", done, 50), ...asks("modest", done, 2)]
    await Effect.runPromise(Effect.all(all, { concurrency: "unbounded", discard: true }))
    expect(done).toHaveLength(52)
    expect(done.lastIndexOf("modest")).toBeLessThan(5)
  })

  test("lets others be answered between two pieces", async () => {
    expect(await turnsOf(longWork)).toBe(10)
  })

  test("is not done for a caller who has disconnected", async () => {
    let done = 0
    const work = longWork(() => {
      done++
      if (done === 3) fiber.interruptUnsafe()
    })
    const all = Effect.all(
      Array.from({ length: 20 }, () => work),
      { concurrency: "unbounded", discard: true },
    )
    const fiber = Effect.runFork(all)
    await Effect.runPromise(Fiber.await(fiber))
    await Effect.runPromise(longWork(() => undefined))
    expect(done).toBe(3)
  })

  test("of several pieces is done once at a time for a user, and beside that of others", async () => {
    const running = new Set<string>()
    const beside: string[] = []
    const asks = (user: string) =>
      inOwnTurn(
        Effect.gen(function* () {
          if (running.has(user)) beside.push(`${user} beside itself`)
          if (running.size > 0) beside.push("others")
          running.add(user)
          for (let n = 0; n < 5; n++) yield* longWork(() => undefined)
          running.delete(user)
        }),
      ).pipe(Effect.provideService(Requester, user as UserId))
    const all = ["one", "one", "other", "one", "other"].map(asks)
    await Effect.runPromise(Effect.all(all, { concurrency: "unbounded", discard: true }))
    expect(new Set(beside)).toEqual(new Set(["others"]))
  })
})
