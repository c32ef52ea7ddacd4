import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Runner } from "./options.ts"

/** The fibers of requests: a disconnecting client does not end them, so the program must, while their resources are still open. */
export interface RequestFibers {
  readonly run: Runner
  /** Interrupts those still running, and returns when they have cleaned up or the time is over; returns how many had not finished. */
  readonly end: (withinMillis: number) => Promise<number>
}

export const requestFibers = (fork: Runner): RequestFibers => {
  const running = new Set<Fiber.Fiber<unknown, unknown>>()
  return {
    run: (effect) => {
      const fiber = fork(effect)
      if (fiber.pollUnsafe() !== undefined) return fiber
      running.add(fiber)
      fiber.addObserver(() => void running.delete(fiber))
      return fiber
    },
    end: (withinMillis) =>
      Effect.suspend(() => Fiber.interruptAll(running)).pipe(
        Effect.timeoutOption(Duration.millis(withinMillis)),
        Effect.map(() => running.size),
        Effect.runPromise,
      ),
  }
}
