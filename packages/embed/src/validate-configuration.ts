import { checkRangeConfig, type ConfigIssue, parseRangeConfig, type RangeFacts } from "@rangewright/domain/range"
import * as Result from "effect/Result"
import { requireKinds } from "./invalid.ts"

/** What is known of the place where the range will be. What is absent is not checked. */
export interface ConfigurationFacts {
  /** `LAB` if absent. */
  readonly rangeId?: string
  /** Second octet of the range's addresses; 1 if absent. */
  readonly rangeNumber?: number
  /** Names of the templates that are built. */
  readonly templates?: Iterable<string>
  /** Names of the roles that are installed. */
  readonly roles?: Iterable<string>
  /** Names of the collections that are installed: all of their roles count as installed. */
  readonly collections?: Iterable<string>
  readonly nodes?: RangeFacts["nodes"]
  /** Merged under the configuration's `defaults`. */
  readonly defaults?: Readonly<Record<string, unknown>>
}

export interface ConfigurationReport {
  /** No problem is an error. */
  readonly valid: boolean
  /** Errors first, then warnings, each in the order of the text. Lines and columns count from 1. */
  readonly problems: readonly ConfigIssue[]
}

/** Everything that is wrong or odd about a range configuration (YAML). Never throws, whatever the text; `InvalidInputError` for what is no string. */
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
