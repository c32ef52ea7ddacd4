import * as Result from "effect/Result"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parse } from "yaml"
import { exampleRangeConfig, parseRangeConfig, rangeConfigJsonSchema } from "../src/range/config/index.ts"
import { rangeFile } from "./range-config-arbitrary.ts"

type Schema = { readonly [key: string]: unknown }
const schema = rangeConfigJsonSchema({
  id: "https://example.org/range.json",
  defaults: { timezone: "UTC", domainUserPassword: "hidden" },
})
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const isType = (type: unknown, value: unknown): boolean =>
  type === "integer"
    ? Number.isInteger(value)
    : type === "array"
      ? Array.isArray(value)
      : type === "object"
        ? isObject(value)
        : typeof value === type

/** Every keyword that our schema uses; an unknown one is an error, so that none is silently not evaluated. */
const keywords: Readonly<Record<string, (argument: never, value: unknown, schema: Schema) => boolean>> = {
  type: (type: unknown, value) => isType(type, value),
  enum: (values: ReadonlyArray<unknown>, value) => values.includes(value),
  const: (expected: unknown, value) => value === expected,
  pattern: (pattern: string, value) => typeof value !== "string" || new RegExp(pattern, "u").test(value),
  maxLength: (most: number, value) => typeof value !== "string" || value.length <= most,
  minimum: (least: number, value) => typeof value !== "number" || value >= least,
  maximum: (most: number, value) => typeof value !== "number" || value <= most,
  items: (items: Schema, value) => !Array.isArray(value) || value.every((item) => valid(items, item)),
  required: (names: ReadonlyArray<string>, value) => !isObject(value) || names.every((name) => Object.hasOwn(value, name)),
  properties: (properties: Readonly<Record<string, Schema>>, value) =>
    !isObject(value) ||
    Object.entries(properties).every(([name, child]) => !Object.hasOwn(value, name) || valid(child, value[name])),
  additionalProperties: (_: false, value, { properties }) =>
    !isObject(value) || Object.keys(value).every((name) => Object.hasOwn(properties as object, name)),
  allOf: (all: ReadonlyArray<Schema>, value) => all.every((one) => valid(one, value)),
  anyOf: (any: ReadonlyArray<Schema>, value) => any.some((one) => valid(one, value)),
  oneOf: (one: ReadonlyArray<Schema>, value) => one.filter((each) => valid(each, value)).length === 1,
  not: (other: Schema, value) => !valid(other, value),
}
const annotations = new Set(["$schema", "$id", "title", "description", "default", "examples"])
const valid = (rules: Schema, value: unknown): boolean =>
  Object.entries(rules).every(([keyword, argument]) => {
    if (annotations.has(keyword)) return true
    const evaluate = keywords[keyword]
    if (evaluate === undefined) throw new Error(`keyword ${keyword}`)
    return evaluate(argument as never, value, rules)
  })

/** Errors that depend on more than one value, which a schema does not express. */
const beyondSchema = new Set([
  "ports-without-protocol",
  "bad-port-range",
  "bad-octet-range",
  "octet-without-vlan",
  "no-network",
  "forbidden-character",
  "forbidden-key",
])
const acceptsForm = (file: unknown): boolean => {
  const parsed = parseRangeConfig(JSON.stringify(file))
  return Result.isSuccess(parsed) || parsed.failure.every(({ code }) => beyondSchema.has(code))
}

describe("the schema and the reader agree", () => {
  test("on the example", () => {
    expect(valid(schema, parse(exampleRangeConfig))).toBe(true)
  })

  test("on valid files", () => {
    fc.assert(fc.property(rangeFile, (file) => valid(schema, file)))
  })

  test("on files with one value or key changed", () => {
    const values = fc.constantFrom<unknown>(
      null,
      true,
      0,
      1,
      2.5,
      254,
      5000,
      "",
      "all",
      "ACCEPT",
      "member",
      [],
      {},
      [1],
      { a: 1 },
      { name: "a" },
      "1-2",
      "80,443",
    )
    const keys = fc.constantFrom("extra", "windows", "linux", "macOS", "domain", "vlan", "rules", "roles", "name")
    let refusals = 0
    fc.assert(
      fc.property(rangeFile, fc.nat(), fc.nat(), keys, values, fc.boolean(), (file, where, which, key, value, remove) => {
        const changed = structuredClone(file) as Record<string, unknown>
        const objects: Array<Record<string, unknown>> = []
        const collect = (node: unknown): void => {
          if (isObject(node)) objects.push(node)
          if (typeof node === "object" && node !== null) for (const child of Object.values(node)) collect(child)
        }
        collect(changed)
        const target = objects[where % objects.length] ?? changed
        const present = Object.keys(target)
        const name = present[which % (present.length + 1)] ?? key
        if (remove) delete target[name]
        else target[name] = value
        const accepted = acceptsForm(changed)
        if (!accepted) refusals += 1
        expect(valid(schema, changed)).toBe(accepted)
      }),
      { numRuns: 500 },
    )
    expect(refusals).toBeGreaterThan(100)
  })
})

test("every key has a description, and the schema contains the server's own defaults, but no secret", () => {
  const undescribed: Array<string> = []
  const walk = (node: unknown, path: string): void => {
    if (!isObject(node)) return
    const { properties } = node
    if (isObject(properties) && !path.endsWith(".schema"))
      for (const [name, child] of Object.entries(properties))
        if (isObject(child) && child["description"] === undefined) undescribed.push(`${path}.${name}`)
    for (const [key, child] of Object.entries(node)) {
      if (key === "allOf" || key === "default" || key === "examples") continue
      walk(child, `${path}.${key}`)
      if (Array.isArray(child)) for (const item of child) walk(item, `${path}.${key}`)
    }
  }
  walk(schema, "")
  expect(undescribed).toEqual([])
  expect(schema).toMatchObject({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "https://example.org/range.json",
    required: ["ludus"],
    additionalProperties: false,
    properties: { defaults: { properties: { timezone: { default: "UTC" } } } },
  })
  expect(JSON.stringify(schema)).not.toContain("hidden")
})
