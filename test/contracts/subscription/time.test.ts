import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { TestClock } from "effect/testing"
import { rename } from "node:fs/promises"
import { join } from "node:path"
import { expect, test } from "vitest"
import { list } from "./provider.contract.ts"
import { base, web } from "./support/roles-folder.ts"
import { signedWorld } from "./support/signed-world.ts"

const options = { freshSeconds: 300, retrySeconds: 15, staleSeconds: 24 * 3600 }
const clock = Layer.merge(TestClock.layer(), Logger.layer([]))

/** A registry that offers one role, and a provider whose time the test moves. */
const begin = async () => {
  const world = await signedWorld("folder")
  await world.publish([web])
  const run = world.provider(options)
  const file = join(world.folder, "index.json")
  const step = <A>(work: () => Promise<A>) => Effect.promise(work)
  return {
    publish: step(() => world.publish([web, base])),
    hide: step(() => rename(file, `${file}.away`)),
    show: step(() => rename(`${file}.away`, file)),
    /** The number of listed roles, or why none are listed. */
    listed: Effect.match(list, { onSuccess: ({ length }) => length, onFailure: ({ facts }) => facts.reason }),
    run: <A>(effect: Effect.Effect<A, never, Effect.Services<typeof list>>) => run(Effect.provide(effect, clock)),
  }
}

test("an index is requested again when it is not fresh any more, and not before", async () => {
  const { run, listed, publish } = await begin()
  const seen = await run(
    Effect.gen(function* () {
      const first = yield* listed
      yield* publish
      yield* TestClock.adjust("299 seconds")
      const fresh = yield* listed
      yield* TestClock.adjust("1 seconds")
      return [first, fresh, yield* listed]
    }),
  )
  expect(seen).toEqual([1, 1, 2])
})

test("a registry that failed is left alone for a while, then contacted again", async () => {
  const { run, listed, hide, show } = await begin()
  const seen = await run(
    Effect.gen(function* () {
      yield* hide
      const failed = yield* listed
      yield* show
      yield* TestClock.adjust("14 seconds")
      const early = yield* listed
      yield* TestClock.adjust("1 seconds")
      return [failed, early, yield* listed]
    }),
  )
  expect(seen).toEqual(["not-found", "not-found", 1])
})

test("the last index is used while the registry is unreachable, up to its limit", async () => {
  const { run, listed, hide, show } = await begin()
  const seen = await run(
    Effect.gen(function* () {
      const first = yield* listed
      yield* hide
      yield* TestClock.adjust("23 hours")
      const stale = yield* listed
      yield* TestClock.adjust("1 hour")
      const over = yield* listed
      yield* show
      yield* TestClock.adjust("15 seconds")
      return [first, stale, over, yield* listed]
    }),
  )
  expect(seen).toEqual([1, 1, "not-found", 1])
})

test("a clock that is set back does not make an index fresh forever", async () => {
  const { run, listed, publish } = await begin()
  const seen = await run(
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.parse("2030-01-01T00:00:00Z"))
      const first = yield* listed
      yield* publish
      yield* TestClock.setTime(Date.parse("2026-01-01T00:00:00Z"))
      return [first, yield* listed]
    }),
  )
  expect(seen).toEqual([1, 2])
})
