import { setPriority } from "node:os"

const niceness = 5

/** Lets the thread that serves go first. Linux has a priority for each thread; elsewhere it is that of the process, and stays. */
export const yieldToOthers = (): void => {
  if (process.platform === "linux") setPriority(0, niceness)
}
