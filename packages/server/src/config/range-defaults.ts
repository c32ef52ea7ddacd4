import { type ConfigIssue, parseRangeConfig, type RangeDefaults } from "@rangewright/domain"
import * as Result from "effect/Result"

/** Parses defaults with the same spelling and rules as `defaults` in a range's configuration. */
const read = (given: Readonly<Record<string, unknown>>): Result.Result<RangeDefaults, readonly ConfigIssue[]> =>
  Result.map(parseRangeConfig(JSON.stringify({ ludus: [], defaults: given })), ({ config }) => config.defaults)

/** What is wrong with the operator's defaults for range configurations, one line each; values are not shown. */
export const rangeDefaultsProblems = (given: Readonly<Record<string, unknown>>): readonly string[] => {
  const defaults = read(given)
  if (Result.isSuccess(defaults)) return []
  return defaults.failure
    .filter(({ severity }) => severity === "error")
    .map(({ path, message, allowed }) => `${path}: ${message}${allowed === undefined ? "" : ` (allowed: ${allowed})`}`)
}

/** The defaults of ranges in this installation; empty when they are invalid. */
export const rangeDefaultsOf = (given: Readonly<Record<string, unknown>>): Partial<RangeDefaults> => {
  const defaults = read(given)
  return Result.isSuccess(defaults) ? defaults.success : {}
}
