import { rangeNumberSpan } from "@rangewright/domain/access"
import { checkRangeConfig, type ConfigIssue, parseRangeConfig, type RangeFacts } from "@rangewright/domain/range"
import * as Result from "effect/Result"
import { rangeId } from "./ids.ts"
import { invalid, requireKinds, requireKindsOfAll } from "./invalid.ts"

/** What is known about the installation that the range is for. Absent facts are not checked. */
export interface ConfigurationFacts {
  /** `LAB` if absent. */
  readonly rangeId?: string
  /** Second octet of the range's addresses, 1 to 153; 1 if absent. */
  readonly rangeNumber?: number
  /** Names of the built templates. */
  readonly templates?: Iterable<string>
  /** Names of the installed roles. */
  readonly roles?: Iterable<string>
  /** Names of the installed collections: all their roles count as installed. */
  readonly collections?: Iterable<string>
  readonly nodes?: RangeFacts["nodes"]
  /** Merged under the configuration's `defaults`. */
  readonly defaults?: Readonly<Record<string, unknown>>
}

export interface ConfigurationReport {
  /** True if no problem is an error. */
  readonly valid: boolean
  /** Errors first, then warnings, each in text order. Lines and columns count from 1. */
  readonly problems: readonly ConfigIssue[]
}

const isRangeNumber = (number: number): boolean =>
  Number.isInteger(number) && number >= rangeNumberSpan.from && number <= rangeNumberSpan.to

/** The names without duplicates; undefined if none are given. */
const namesOf = (fact: string, names: Iterable<string> | undefined): ReadonlySet<string> | undefined => {
  if (names === undefined) return undefined
  const list = typeof names === "object" && names !== null && Symbol.iterator in names ? [...names] : names
  requireKinds("validateConfiguration: facts", { [fact]: list }, { [fact]: "texts" })
  return new Set(list)
}

/**
 * All errors and warnings of a range configuration (YAML). Never throws because of the text; throws `InvalidInputError` for a value of the
 * wrong type, and for an invalid ID or number of the range.
 */
export const validateConfiguration = (yaml: string, facts: ConfigurationFacts = {}): ConfigurationReport => {
  requireKinds("validateConfiguration", { yaml, facts }, { yaml: "text", facts: "object" })
  const { rangeId: id = "LAB", rangeNumber = 1, nodes, defaults = {} } = facts
  requireKinds(
    "validateConfiguration: facts",
    { rangeId: id, rangeNumber, nodes: nodes === undefined ? [] : nodes, defaults },
    { rangeId: "text", rangeNumber: "number", nodes: "objects", defaults: "object" },
  )
  requireKindsOfAll("validateConfiguration: facts: nodes", nodes ?? [], { name: "text" })
  if (!isRangeNumber(rangeNumber))
    invalid(
      `validateConfiguration: facts: rangeNumber must be a whole number from ${rangeNumberSpan.from} to ${rangeNumberSpan.to}, but it is ${rangeNumber}`,
    )
  const templates = namesOf("templates", facts.templates)
  const roles = namesOf("roles", facts.roles)
  const collections = namesOf("collections", facts.collections)
  const parsed = parseRangeConfig(yaml, { defaults })
  if (Result.isFailure(parsed)) return { valid: false, problems: parsed.failure }
  const knowsRoles = roles !== undefined || collections !== undefined
  const problems = [
    ...parsed.success.warnings,
    ...checkRangeConfig(parsed.success, {
      rangeId: rangeId(id),
      rangeNumber,
      templates,
      roles: knowsRoles ? { names: new Set(roles), collections: new Set(collections) } : undefined,
      nodes,
    }),
  ]
  return { valid: problems.every(({ severity }) => severity === "warning"), problems }
}
