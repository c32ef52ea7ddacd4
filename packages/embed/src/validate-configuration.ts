import { checkRangeConfig, type ConfigIssue, parseRangeConfig, type RangeFacts } from "@rangewright/domain/range"
import * as Result from "effect/Result"
import { requireKinds } from "./invalid.ts"

/** What is known about the installation that the range is for. Absent facts are not checked. */
export interface ConfigurationFacts {
  /** `LAB` if absent. */
  readonly rangeId?: string
  /** Second octet of the range's addresses; 1 if absent. */
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

/**
 * All errors and warnings of a range configuration (YAML). Never throws because of the text; throws `InvalidInputError` if it is not a
 * string.
 */
export const validateConfiguration = (yaml: string, facts: ConfigurationFacts = {}): ConfigurationReport => {
  requireKinds("validateConfiguration", { yaml, facts }, { yaml: "text", facts: "object" })
  const parsed = parseRangeConfig(yaml, facts.defaults === undefined ? {} : { defaults: facts.defaults })
  if (Result.isFailure(parsed)) return { valid: false, problems: parsed.failure }
  const knowsRoles = facts.roles !== undefined || facts.collections !== undefined
  const problems = [
    ...parsed.success.warnings,
    ...checkRangeConfig(parsed.success, {
      rangeId: facts.rangeId ?? "LAB",
      rangeNumber: facts.rangeNumber ?? 1,
      templates: facts.templates === undefined ? undefined : new Set(facts.templates),
      roles: knowsRoles ? { names: new Set(facts.roles), collections: new Set(facts.collections) } : undefined,
      nodes: facts.nodes,
    }),
  ]
  return { valid: problems.every(({ severity }) => severity === "warning"), problems }
}
