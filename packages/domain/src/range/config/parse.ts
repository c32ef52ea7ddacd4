import * as Result from "effect/Result"
import { build } from "./build.ts"
import { declareRange } from "./declare-range.ts"
import { decode } from "./decode.ts"
import { builtinDefaults } from "./defaults.ts"
import { type ConfigIssue, type Finding, report } from "./issue.ts"
import type { RangeConfig, RangeDefaults } from "./model.ts"
import { limits } from "./limits.ts"
import { type Node, offsetOf } from "./node.ts"
import { impossibleRules, unusableNetworks } from "./check-rules.ts"
import { readYaml } from "./read-yaml.ts"

const tooManyRoles = ({ router, machines }: RangeConfig, root: Node): readonly Finding[] => {
  const count = [router, ...machines].reduce((sum, { roles }) => sum + roles.length, 0)
  if (count <= limits.roles) return []
  const path = ["ludus"]
  const message = `the machines have ${count} roles in all`
  return [{ path, offset: offsetOf(root, path), code: "too-large", message, allowed: `at most ${limits.roles}` }]
}

export interface ParseOptions {
  /** The server's own defaults; absent ones are built in. The range's `defaults` override them, key by key. */
  readonly defaults?: Partial<RangeDefaults>
}

export interface ParsedRangeConfig {
  readonly config: RangeConfig
  /** What other readers of the file understand differently, and what has no effect. Never an error. */
  readonly warnings: ReadonlyArray<ConfigIssue>
  /** The file itself, so that later checks can point at it. */
  readonly file: PlacedFile
}
export interface PlacedFile {
  readonly text: string
  readonly root: Node
}

/**
 * Reads the text of a range configuration, YAML or JSON. Fails with everything that is wrong with it: the syntax, or else every
 * key. Never throws, and takes time in proportion to `limits.tokens` at most. What depends on the range and the server (names,
 * addresses, templates, roles) is checked by `checkRangeConfig`.
 */
export const parseRangeConfig = (
  text: string,
  options: ParseOptions = {},
): Result.Result<ParsedRangeConfig, ReadonlyArray<ConfigIssue>> => {
  const server = { ...builtinDefaults, ...options.defaults }
  const warnings: Array<Finding> = []
  const root = readYaml(text, warnings)
  if (Result.isFailure(root)) return Result.fail(report(text, root.failure))
  const file = decode(declareRange(server), root.success)
  if (Result.isFailure(file)) return Result.fail(report(text, file.failure))
  const config = build(file.success, server)
  const { rules, alwaysBlocked } = config.network
  const findings = [
    ...tooManyRoles(config, root.success),
    ...impossibleRules(rules, root.success),
    ...unusableNetworks(alwaysBlocked, root.success),
  ]
  const errors = findings.filter(({ severity }) => severity !== "warning")
  if (errors.length > 0) return Result.fail(report(text, errors))
  return Result.succeed({ config, warnings: report(text, [...warnings, ...findings]), file: { text, root: root.success } })
}
