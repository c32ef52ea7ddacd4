/** Small configurations for tests, and helpers to read the results. */
import * as Result from "effect/Result"
import { type ConfigIssue, type ParsedRangeConfig, parseRangeConfig, type ParseOptions } from "../src/range/config/index.ts"

/** A machine as in a file; `more` replaces and adds keys, undefined leaves one out. */
export const machineKeys = (
  name: string,
  more: { readonly [key: string]: unknown } = {},
): { readonly [key: string]: unknown } => {
  const keys = {
    vm_name: name,
    hostname: name,
    template: "debian",
    vlan: 10,
    ip_last_octet: 5,
    ram_gb: 2,
    cpus: 2,
    linux: true,
    ...more,
  }
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== undefined))
}

export const accepted = (text: string | object, options?: ParseOptions): ParsedRangeConfig => {
  const parsed = parseRangeConfig(typeof text === "string" ? text : JSON.stringify(text, null, 2), options)
  if (Result.isFailure(parsed)) throw new Error(`refused: ${JSON.stringify(parsed.failure)}`)
  return parsed.success
}

export const refused = (text: string | object): ReadonlyArray<ConfigIssue> => {
  const parsed = parseRangeConfig(typeof text === "string" ? text : JSON.stringify(text, null, 2))
  if (Result.isSuccess(parsed)) throw new Error("accepted")
  return parsed.failure
}

/** `path code` of each issue. */
export const brief = (issues: ReadonlyArray<ConfigIssue>): ReadonlyArray<string> =>
  issues.map(({ path, code }) => `${path} ${code}`)
