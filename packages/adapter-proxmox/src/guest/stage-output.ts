import { coverOf, type Json, type StepFacts } from "@rangewright/domain"
import { type Fields, child, recordOf, text, words } from "../wire/read.ts"

/** Result of a program in a guest. */
export interface Finished {
  readonly exitCode: number
  readonly output: string
  readonly errors: string
}

const maxOutput = 64 * 1024

/** Parses the answer of `exec-status`; undefined while the program runs. A signal counts as a failure. */
export const finishedOf = (data: Fields): Finished | undefined => {
  if (text(data, "exited") !== "1" && data["exited"] !== true) return undefined
  return {
    exitCode: Number(text(data, "exitcode") ?? (text(data, "signal") === undefined ? 0 : 128)),
    output: (text(data, "out-data") ?? "").slice(0, maxOutput),
    errors: (text(data, "err-data") ?? "").slice(0, maxOutput),
  }
}

/** Undefined when the output is not a single JSON object. */
const parsed = (output: string): Fields | undefined => {
  try {
    const value: unknown = JSON.parse(output)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? recordOf(value) : undefined
  } catch {
    return undefined
  }
}

/** The part of the output that is meant for people. A result printed as JSON is not: it repeats the input, and `factsOf` reads it. */
export const linesOf = (output: string, input: Json): string => (parsed(output) === undefined ? coverOf(input)(output) : "")

/** The facts that a stage prints as JSON: `{"changed": bool, "state": {…}}`. Any other output is ignored. */
export const factsOf = (output: string): StepFacts => {
  const printed = parsed(output) ?? {}
  const address = text(child(printed, "state"), "address")
  const warnings = words(printed, "warnings")
  const report = text(printed, "report")
  return {
    ...(typeof printed["changed"] === "boolean" ? { changed: printed["changed"] } : {}),
    ...(address === undefined ? {} : { address: address.replace(/\/\d+$/u, "") }),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(report === undefined ? {} : { data: { report } }),
  }
}
