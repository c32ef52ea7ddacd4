import fc from "fast-check"
import { expect, test } from "vitest"
import { PveError } from "../src/core/errors.ts"
import { methods, type Property } from "../src/schema/schema.ts"
import { compilePattern, validateParameters } from "../src/schema/validate.ts"
import { hasReference, readReference, whenPresent } from "./support/reference.ts"

interface Verdict {
  readonly method: string
  readonly endpoint: string
  readonly path: string
  readonly params: Readonly<Record<string, unknown>>
  readonly result: "accepted" | "rejected"
  readonly errors?: Readonly<Record<string, string>>
}

/** The parameters of a verdict with those that are in its path. */
const parametersOf = (verdict: Verdict): Record<string, unknown> => {
  const segments = verdict.path.split("/")
  const fromPath = verdict.endpoint.split("/").flatMap((name, i): [string, string][] => {
    if (!name.startsWith("{")) return []
    return [[name.slice(1, -1), name === "{volume}" ? segments.slice(i).join("/") : decodeURIComponent(segments[i]!)]]
  })
  return { ...Object.fromEntries(fromPath), ...verdict.params }
}

const complaints = (
  method: string,
  parameters: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> | undefined => {
  try {
    validateParameters(methods.get(method)!, parameters)
    return undefined
  } catch (error) {
    if (error instanceof PveError && error.errors !== undefined) return error.errors
    throw error
  }
}

/** Complaints without the order of their lines, which is random on the server. */
const unordered = (errors: Readonly<Record<string, string>>): string =>
  JSON.stringify(
    Object.entries(errors)
      .map(([name, text]) => [name, text.split("\n").toSorted()])
      .toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  )

test.skipIf(!hasReference)(`the recorded verdicts on parameters are shared, and so are their words${whenPresent}`, () => {
  const verdicts = readReference("fixtures/recorded/validation_vectors.jsonl")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Verdict)
  let agreed = 0
  let sameWords = 0
  for (const verdict of verdicts) {
    const found = complaints(`${verdict.method} ${verdict.endpoint}`, parametersOf(verdict))
    if ((found === undefined) === (verdict.result === "accepted")) agreed += 1
    if (found !== undefined && verdict.errors !== undefined && unordered(found) === unordered(verdict.errors)) sameWords += 1
  }
  const rejected = verdicts.filter((verdict) => verdict.result === "rejected").length
  console.info(`verdicts: ${agreed} of ${verdicts.length} agree; words: ${sameWords} of ${rejected} are the same`)
  expect(agreed / verdicts.length).toBeGreaterThanOrEqual(0.99)
  expect(sameWords / rejected).toBeGreaterThanOrEqual(0.99)
})

test("every pattern of the schema also works in JavaScript", () => {
  const patterns: string[] = []
  const collect = (property: Property): void => {
    if (property.pattern !== undefined) patterns.push(property.pattern)
    if (typeof property.format === "object") Object.values(property.format).forEach(collect)
    if (property.items !== undefined) collect(property.items)
    property.oneOf?.forEach(collect)
  }
  for (const method of methods.values()) Object.values(method.parameters).forEach(collect)
  expect(patterns.length).toBeGreaterThan(100)
  for (const pattern of patterns) expect(() => compilePattern(pattern), pattern).not.toThrow()
})

test("all errors of a request are reported at once, each under its parameter", () => {
  expect(
    complaints("POST /nodes/{node}/qemu/{vmid}/clone", { node: "pve", vmid: "100", newid: "5", name: "no_good", bogus: "1" }),
  ).toEqual({
    bogus: "property is not defined in schema and the schema does not allow additional properties",
    name: "invalid format - value does not look like a valid DNS name\n",
    newid: "invalid format - value does not look like a valid VM ID\n",
  })
})

test.each(["__proto__", "constructor", "toString", "hasOwnProperty"])(
  "a parameter called %s is only an unknown parameter",
  (name) => {
    const given: Record<string, unknown> = Object.create(null)
    given["node"] = "pve"
    given["vmid"] = "100"
    given[name] = "1"
    expect(Object.keys(complaints("PUT /nodes/{node}/qemu/{vmid}/config", given) ?? {})).toEqual([name])
  },
)

test("whatever is sent for a VM's options is accepted or refused by name", () => {
  const names = Object.keys(methods.get("PUT /nodes/{node}/qemu/{vmid}/config")!.parameters)
  const value = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.integer(),
    fc.boolean(),
    fc.array(fc.string()),
    fc.object(),
  )
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), value), (given) => {
      const found = complaints("PUT /nodes/{node}/qemu/{vmid}/config", { ...given, node: "pve", vmid: "100" })
      for (const text of Object.values(found ?? {})) expect(text).not.toBe("")
    }),
    { numRuns: 300 },
  )
})

test("a pattern without a lower bound takes anything up to the upper one", () => {
  const pattern = compilePattern(String.raw`[A-Za-z0-9\-_\s]{,16}`)
  for (const text of ["", "SSD", "x".repeat(16)]) expect(pattern.test(text)).toBe(true)
  for (const text of ["x".repeat(17), "{,16}", "a;b"]) expect(pattern.test(text)).toBe(false)
})
