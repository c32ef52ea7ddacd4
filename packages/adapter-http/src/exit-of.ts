import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { ServerResponse } from "node:http"

/** Long-running work that a stop must end: open streams, and changes that wait for their turn. */
export interface OpenStreams {
  readonly add: (end: () => void) => void
  readonly remove: (end: () => void) => void
}

/** How the fiber ended. Never rejects. */
export const exitOf = <A, E>(fiber: Fiber.Fiber<A, E>): Promise<Exit.Exit<A, E>> =>
  new Promise((resolve) => {
    fiber.addObserver(resolve)
  })

/** The same, and interrupts the fiber when the client disconnects. */
export const exitUnlessGone = async <A, E>(fiber: Fiber.Fiber<A, E>, response: ServerResponse): Promise<Exit.Exit<A, E>> => {
  const interrupt = () => fiber.interruptUnsafe()
  response.once("close", interrupt)
  const exit = await exitOf(fiber)
  response.off("close", interrupt)
  return exit
}

/** Completes when the client has disconnected, or the service is told to stop. */
export const callerGone = (response: ServerResponse, open: OpenStreams): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const tell = () => resume(Effect.void)
    response.once("close", tell)
    open.add(tell)
    if (response.closed) tell()
    return Effect.sync(() => {
      response.off("close", tell)
      open.remove(tell)
    })
  })
