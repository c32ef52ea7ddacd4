import { setTimeout } from "node:timers/promises"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { databaseClockLayer, storageLayer } from "../src/index.ts"
import { createDatabase, temporaryFolder } from "./support.ts"

const server = process.env["RANGEWRIGHT_TEST_POSTGRES"]
const hour = 3_600_000
const isNow = (millis: number) => Math.abs(millis - Date.now()) < 60_000

/** Runs with the test's clock in the place of the host's, and what the layer makes of it. */
const onHost = <A, E>(
  storage: Parameters<typeof storageLayer>[0],
  timeOfDay: number,
  program: (host: TestClock.TestClock) => Effect.Effect<A, E>,
): Promise<A> =>
  Effect.runPromise(
    TestClock.testClockWith((host) =>
      Effect.andThen(
        host.setTime(timeOfDay),
        Effect.provide(program(host), Layer.provide(databaseClockLayer, storageLayer(storage))),
      ),
    ).pipe(Effect.scoped, Effect.provide(TestClock.layer())),
  )

describe.skipIf(server === undefined)("the clock of a database on a server (needs RANGEWRIGHT_TEST_POSTGRES)", () => {
  let database: Awaited<ReturnType<typeof createDatabase>>
  beforeAll(async () => {
    database = await createDatabase(server ?? "")
  })
  afterAll(() => database.drop())

  it.each([hour, -hour])("is the server's where the host's is %i milliseconds off, and goes on evenly", async (off) => {
    const [time, passed] = await onHost({ databaseUrl: database.url }, Date.now() + off, (host) =>
      Effect.gen(function* () {
        const before = yield* Clock.currentTimeMillis
        yield* host.adjust(5000)
        return [before, (yield* Clock.currentTimeMillis) - before] as const
      }),
    )
    expect(isNow(time)).toBe(true)
    expect(passed).toBe(5000)
  })

  it("follows the server's where the host's has gone ahead", async () => {
    await onHost({ databaseUrl: database.url }, Date.now(), (host) =>
      Effect.gen(function* () {
        yield* host.adjust(hour)
        // a look during which the host's clock was set says nothing, so each gets time to be answered before the next is due
        while (!isNow(yield* Clock.currentTimeMillis)) {
          yield* host.adjust(60_000)
          for (let turn = 0; turn < 50 && !isNow(yield* Clock.currentTimeMillis); turn++)
            yield* Effect.promise(() => setTimeout(10))
        }
      }),
    )
  })
})

it("is the host's on SQLite", async () => {
  const file = `${await temporaryFolder()}/data.db`
  expect(await onHost({ file }, 1_000_000, () => Clock.currentTimeMillis)).toBe(1_000_000)
})
