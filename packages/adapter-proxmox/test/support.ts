import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { PveAnswer, PveRequest, PveTransport } from "../src/index.ts"

/** What a scripted node answers: a status and JSON, or a failure of the connection. */
export type Scripted =
  | { readonly status?: number; readonly json?: unknown; readonly text?: string; readonly reason?: string }
  | Error

export const answer = ({ status = 200, json, text, reason = "" }: Exclude<Scripted, Error>): PveAnswer => ({
  status,
  statusText: reason,
  body: new TextEncoder().encode(text ?? JSON.stringify(json ?? { data: null })),
})

/** A node that answers by a script, and remembers what it was asked. */
export const scriptedNode = (script: (request: PveRequest, nth: number) => Scripted | Promise<Scripted>) => {
  const requests: PveRequest[] = []
  const transport: PveTransport = {
    send: async (request) => {
      requests.push(request)
      const next = await script(request, requests.length)
      if (next instanceof Error) throw next
      return answer(next)
    },
  }
  return { requests, transport }
}

export const connectionError = (code: string): Error => Object.assign(new Error(`connection failed ${code}`), { code })

/** Runs on a test clock that always moves on: no wait takes real time. */
export const runFast = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const moving = Effect.forever(
          Effect.andThen(
            TestClock.adjust("100 millis"),
            Effect.promise(() => new Promise(setImmediate)),
          ),
        )
        yield* Effect.forkScoped(moving)
        return yield* effect
      }),
    ).pipe(Effect.provide(TestClock.layer())),
  )
