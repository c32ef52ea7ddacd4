import { globSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Patterns that sources must not use, and their replacements. */
const rules = {
  "take a service at the top of the function: const ranges = yield* Ranges": /\(yield\* [A-Z]\w*\)/gu,
  "yield a fault that is made here: return yield* new Fault(…)": /yield\* Effect\.fail\(\s*(?:new (?!Error\b)|\w+\()/gu,
}

const brokenIn = (source: string): readonly string[] =>
  Object.entries(rules).flatMap(([rule, pattern]) =>
    [...source.matchAll(pattern)].map(({ index }) => `line ${source.slice(0, index).split("\n").length}: ${rule}`),
  )

test("services are acquired at the top of a function, and faults fail in one way", () => {
  const files = globSync("packages/*/src/**/*.{ts,tsx}", { cwd: root })
  expect(files.length).toBeGreaterThan(1000)
  expect(files.flatMap((file) => brokenIn(readFileSync(`${root}/${file}`, "utf8")).map((rule) => `${file} ${rule}`))).toEqual([])
})

test.each([
  ["const range = yield* (yield* Ranges).find(id)", 1],
  ["\nconst all = { ...(yield* GuestAutomation), roles }", 2],
  ["return yield* Effect.fail(new RangeNotFound({ rangeId }))", 1],
  ["return yield* Effect.fail(\n  refused(),\n)", 1],
])("%j is caught", (planted, line) => {
  expect(brokenIn(planted)).toEqual([expect.stringMatching(new RegExp(`^line ${line}: `, "u"))])
})

test("Effect.fail is allowed for a caught fault and for values that are no faults", () => {
  expect(brokenIn(`yield* Effect.fail(answer.failure)\nyield* Effect.fail("no such console")`)).toEqual([])
})
