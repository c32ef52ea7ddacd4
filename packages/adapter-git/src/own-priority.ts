import { getPriority, setPriority } from "node:os"

const nicer = 5
const nicest = 19

/**
 * Lowers this thread's priority below the main thread's, which the service may have been started with: raising it needs privileges. Only
 * Linux has a priority for each thread; elsewhere it would apply to the process, so it is left alone.
 */
export const yieldToOthers = (): void => {
  if (process.platform === "linux") setPriority(0, Math.min(nicest, getPriority(0) + nicer))
}
