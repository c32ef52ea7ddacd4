import type { StepFacts } from "@rangewright/domain"
import { type Fields, child, recordOf, text, words } from "../wire/read.ts"

/** What came of a program in a guest. */
export interface Finished {
  readonly exitCode: number
  readonly output: string
  readonly errors: string
}

const maxOutput = 64 * 1024

/** The answer of `exec-status`; undefined while the program runs. A signal counts as a failure. */
export const finishedOf = (data: Fields): Finished | undefined => {
  if (text(data, "exited") !== "1" && data["exited"] !== true) return undefined
  return {
    exitCode: Number(text(data, "exitcode") ?? (text(data, "signal") === undefined ? 0 : 128)),
    output: (text(data, "out-data") ?? "").slice(0, maxOutput),
    errors: (text(data, "err-data") ?? "").slice(0, maxOutput),
  }
}

const parsed = (output: string): Fields => {
  try {
    return recordOf(JSON.parse(output))
  } catch {
    return {}
  }
}

/** The facts that a stage prints as JSON: `{"changed": bool, "state": {…}}`. Whatever else it prints tells nothing. */
export const factsOf = (output: string): StepFacts => {
  const printed = parsed(output)
  const address = text(child(printed, "state"), "address")
  const warnings = words(printed, "warnings")
  return {
    ...(typeof printed["changed"] === "boolean" ? { changed: printed["changed"] } : {}),
    ...(address === undefined ? {} : { address: address.replace(/\/\d+$/u, "") }),
    ...(warnings.length === 0 ? {} : { warnings }),
  }
}
