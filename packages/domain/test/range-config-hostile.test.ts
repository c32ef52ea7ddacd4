import * as Result from "effect/Result"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { checkRangeConfig, configurationError, parseRangeConfig } from "../src/range/config/index.ts"
import { rangeFile } from "./range-config-arbitrary.ts"
import { hostileFiles } from "./range-config-hostile.ts"

/** Reads and checks as a server does; gives the issues, and fails when an issue points outside the text. */
const issuesOf = (text: string): ReadonlyArray<{ readonly code: string; readonly severity: string }> => {
  const parsed = parseRangeConfig(text)
  const issues = Result.isFailure(parsed)
    ? parsed.failure
    : [...parsed.success.warnings, ...checkRangeConfig(parsed.success, { rangeId: "LAB", rangeNumber: 7 })]
  const lines = text.split("\n")
  for (const { line, column } of issues) {
    expect(line).toBeGreaterThanOrEqual(1)
    expect(line).toBeLessThanOrEqual(lines.length)
    expect(column).toBeGreaterThanOrEqual(1)
    expect(column).toBeLessThanOrEqual((lines[line - 1] ?? "").length + 1)
  }
  return issues
}

describe("a hostile file ends in a clear error or a normal result", () => {
  test.each(hostileFiles)("%s: %s", (_, outcome, text) => {
    const parsed = parseRangeConfig(text)
    expect(Result.isFailure(parsed) ? parsed.failure[0]?.code : "accepted").toBe(outcome)
    const issues = issuesOf(text)
    expect(issues.length).toBeLessThanOrEqual(202)
    if (Result.isSuccess(parsed)) return
    expect(parsed.failure.every(({ severity }) => severity === "error")).toBe(true)
    const message = configurationError(parsed.failure)
    expect(message.startsWith("Configuration error: invalid YAML: ")).toBe(true)
    expect(message.length).toBeLessThan(60_000)
  })

  test("no key reaches a prototype", () => {
    for (const [, , text] of hostileFiles) parseRangeConfig(text)
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
    const parsed = parseRangeConfig("ludus: []\nludus_extensions: {constructor: {prototype: {polluted: true}}, toString: 1}\n")
    expect(Result.isSuccess(parsed) && parsed.success.config.extensions).toEqual({
      constructor: { prototype: { polluted: true } },
      toString: 1,
    })
  })
})

const syntax = fc.constantFrom(
  "{",
  "}",
  "[",
  "]",
  ":",
  ": ",
  "- ",
  ", ",
  "\n",
  "  ",
  "\t",
  "'",
  '"',
  "&a ",
  "*a",
  "!t ",
  "|",
  ">",
  "#",
  "%",
  "? ",
  "---\n",
  "<<",
  "\\",
  "\0",
  "{{",
  "~",
)

test("no text makes the reader throw", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => void issuesOf(text)),
    { numRuns: 300 },
  )
  fc.assert(
    fc.property(
      fc.array(fc.oneof(syntax, fc.constantFrom("ludus", "network", "rules", "vlan", "1")), { maxLength: 60 }),
      (parts) => void issuesOf(parts.join("")),
    ),
    { numRuns: 500 },
  )
})

test("no mutation of a valid file makes the reader throw", () => {
  const mutation = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    drop: fc.integer({ min: 0, max: 5 }),
    put: fc.oneof(syntax, fc.string({ maxLength: 3 })),
  })
  fc.assert(
    fc.property(rangeFile, fc.array(mutation, { minLength: 1, maxLength: 4 }), (file, mutations) => {
      const text = mutations.reduce(
        (before, { at, drop, put }) => {
          const offset = Math.floor(at * before.length)
          return before.slice(0, offset) + put + before.slice(offset + drop)
        },
        JSON.stringify(file, null, 1),
      )
      issuesOf(text)
    }),
    { numRuns: 300 },
  )
})
