import { isFault } from "@rangewright/domain"
import { exit, type Options } from "./words.ts"

/** Tells a fault, and gives the exit status; what is none goes on as it is. */
export const failed = (fault: unknown, { json }: Pick<Options, "json">): number => {
  if (!isFault(fault)) throw fault
  const { message, hint, issues } = fault
  if (json) process.stdout.write(`${JSON.stringify({ error: message, hint, issues })}\n`)
  process.stderr.write(`${message}\n${hint === undefined ? "" : `${hint}\n`}`)
  return exit.failed
}
