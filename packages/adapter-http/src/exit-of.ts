import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { ServerResponse } from "node:http"

/** How the fiber ended. Never rejects. */
export const exitOf = <A, E>(fiber: Fiber.Fiber<A, E>): Promise<Exit.Exit<A, E>> =>
  new Promise((resolve) => {
    fiber.addObserver(resolve)
  })

/** The same, and interrupts the fiber when the client goes away. */
export const exitUnlessGone = async <A, E>(fiber: Fiber.Fiber<A, E>, response: ServerResponse): Promise<Exit.Exit<A, E>> => {
  const interrupt = () => fiber.interruptUnsafe()
  response.once("close", interrupt)
  const exit = await exitOf(fiber)
  response.off("close", interrupt)
  return exit
}
