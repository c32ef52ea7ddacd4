import type { ContentFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { asFault, type Doing } from "./faults.ts"

/** Work that an interruption asks to stop and then waits for: nothing goes on behind the back of whoever removes the folders next. */
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
