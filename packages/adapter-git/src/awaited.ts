import type { ContentFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { asFault, type Doing } from "./faults.ts"

/** Runs work that, when interrupted, is asked to stop and then awaited, so that nothing still runs when the folders are removed. */
export const awaited = <A>(doing: Doing, work: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, ContentFault> =>
  Effect.callback<A, ContentFault>((resume) => {
    const stop = new AbortController()
    const over = work(stop.signal).then(
      (value) => resume(Effect.succeed(value)),
      (cause: unknown) => resume(Effect.fail(asFault(doing)(cause))),
    )
    return Effect.promise(() => {
      stop.abort()
      return over
    })
  })
