import { type ConfigIssue, parseRangeConfig, type RangeDefaults } from "@rangewright/domain"
import * as Result from "effect/Result"

/** They are spelled and checked as the `defaults` of a range's configuration. */
const read = (given: Readonly<Record<string, unknown>>): Result.Result<RangeDefaults, readonly ConfigIssue[]> =>
  Result.map(parseRangeConfig(JSON.stringify({ ludus: [], defaults: given })), ({ config }) => config.defaults)

/** What is wrong with the operator's defaults of range configurations, a line each; values are not told. */
export const rangeDefaultsProblems = (given: Readonly<Record<string, unknown>>): readonly string[] => {
  const defaults = read(given)
  if (Result.isSuccess(defaults)) return []
  return defaults.failure
    .filter(({ severity }) => severity === "error")
    .map(({ path, message, allowed }) => `${path}: ${message}${allowed === undefined ? "" : ` (allowed: ${allowed})`}`)
}

/** The defaults that ranges of this installation have; nothing where they are wrong. */
export const rangeDefaultsOf = (given: Readonly<Record<string, unknown>>): Partial<RangeDefaults> => {
  const defaults = read(given)
  return Result.isSuccess(defaults) ? defaults.success : {}
}
