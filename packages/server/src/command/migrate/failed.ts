import { isFault } from "@rangewright/domain"
import { exit, type Options } from "./words.ts"

/** Reports a fault and returns the exit status; rethrows anything that is not a fault. */
export const failed = (fault: unknown, { json }: Pick<Options, "json">): number => {
  if (!isFault(fault)) throw fault
  const { message, hint, issues } = fault
  if (json) process.stdout.write(`${JSON.stringify({ error: message, hint, issues })}\n`)
  process.stderr.write(`${message}\n${hint === undefined ? "" : `${hint}\n`}`)
  return exit.failed
}
