import { setPriority } from "node:os"

const niceness = 5

/**
 * Lowers this thread's priority below the main thread's. Only Linux has a priority for each thread; elsewhere it would apply to the
 * process, so it is left alone.
 */
export const yieldToOthers = (): void => {
  if (process.platform === "linux") setPriority(0, niceness)
}
