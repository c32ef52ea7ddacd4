import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { requestFibers } from "../src/request-fibers.ts"

const fibersOfNothing = () => requestFibers((effect) => Effect.runFork(effect as Effect.Effect<never>))

describe("requests that still run when the service stops", () => {
  it("are interrupted, and have cleaned up when the stop continues", async () => {
    const { run, end } = fibersOfNothing()
    const begun = Deferred.makeUnsafe<void>()
    let undone = false
    run(
      Effect.andThen(Deferred.succeed(begun, undefined), Effect.never).pipe(
        Effect.onInterrupt(() =>
          Effect.andThen(
            Effect.yieldNow,
            Effect.sync(() => void (undone = true)),
          ),
        ),
      ),
    )
    await Effect.runPromise(Deferred.await(begun))
    expect(await end(60_000)).toBe(0)
    expect(undone).toBe(true)
  })

  it("delay the stop no longer than allowed", async () => {
    const { run, end } = fibersOfNothing()
    run(Effect.uninterruptible(Effect.never))
    expect(await end(1)).toBe(1)
  })

  it("are forgotten when they have ended", async () => {
    const { run, end } = fibersOfNothing()
    run(Effect.succeed(1))
    expect(await end(0)).toBe(0)
  })
})
