import * as Result from "effect/Result"
import type { PlanIssue } from "./issue.ts"

/** A machine as a host pattern sees it. */
export interface PatternHost {
  readonly name: string
  readonly groups: readonly string[]
}

/** The host that Ansible's own plays run on; it is not a machine of ours, and clients append it to every pattern. */
const ownHost = "localhost"
const longestPattern = 4096

/**
 * The machines that a host pattern selects, as Ansible reads it: names and groups with wildcards, joined by `,` or `:`; `!x` excludes x,
 * `&x` intersects with x; plain parts apply first, then `&`, then `!`. An empty pattern selects all. A pattern that matches no machine is
 * refused, unless it contains only `localhost`.
 */
export const matchHosts = (
  pattern: string,
  hosts: readonly PatternHost[],
): Result.Result<ReadonlySet<string>, readonly PlanIssue[]> => {
  const all = new Set(hosts.map((h) => h.name))
  if (pattern.trim() === "") return Result.succeed(all)
  if (pattern.length > longestPattern) return refuse(`the limit is longer than ${longestPattern} characters`)
  const given = pattern
    .split(/[,:]/u)
    .map((p) => p.trim())
    .filter((p) => p !== "")
  const parts = given.filter((p) => p !== ownHost && p !== `!${ownHost}` && p !== `&${ownHost}`)
  const strange = parts.find((p) => /[~[\]]/u.test(p))
  if (strange !== undefined) return refuse(`the limit contains "${strange}", which is not a name, group or wildcard`)
  if (parts.length === 0) return Result.succeed(new Set())

  const named = (text: string): ReadonlySet<string> => {
    const matches = wildcard(text)
    return new Set(hosts.filter((h) => matches(h.name) || matches("all") || h.groups.some(matches)).map((h) => h.name))
  }
  const plain = parts.filter((p) => !/^[!&]/u.test(p))
  const some = plain.length === 0 ? all : new Set(plain.flatMap((p) => [...named(p)]))
  const common = parts.filter((p) => p.startsWith("&")).map((p) => named(p.slice(1)))
  const without = parts.filter((p) => p.startsWith("!")).map((p) => named(p.slice(1)))
  const chosen = [...all].filter((n) => some.has(n) && common.every((s) => s.has(n)) && !without.some((s) => s.has(n)))
  return chosen.length > 0
    ? Result.succeed(new Set(chosen))
    : refuse(
        `the limit "${pattern}" matches no machine of the range`,
        all.size === 0 ? "It has none yet." : `The machines are ${[...all].join(", ")}.`,
      )
}

const refuse = (
  message: string,
  hint = "List machines or groups, separated by commas; ! excludes, & intersects, * matches any text.",
) => Result.fail([{ code: "bad-limit", message, hint }] as const)

/** `*` any text, `?` any character; everything else is literal. Takes time linear in the text for each star. */
const wildcard = (pattern: string): ((text: string) => boolean) => {
  if (!/[*?]/u.test(pattern)) return (text) => text === pattern
  return (text) => {
    let p = 0
    let star = -1
    let resume = 0
    for (let t = 0; t < text.length;) {
      if (p < pattern.length && (pattern[p] === "?" || (pattern[p] !== "*" && pattern[p] === text[t]))) {
        p += 1
        t += 1
      } else if (pattern[p] === "*") {
        star = p++
        resume = t
      } else if (star >= 0) {
        p = star + 1
        t = ++resume
      } else return false
    }
    while (pattern[p] === "*") p += 1
    return p === pattern.length
  }
}
