import type { WireSchema } from "@rangewright/application"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { describe, expect, test } from "vitest"
import { decodeWith } from "../src/decode/decode-with.ts"

const decode = decodeWith(Schema.Struct({ vmids: Schema.Array(Schema.Int) }) as unknown as WireSchema, "request body")
const issuesOf = (value: unknown) => Effect.runSync(Effect.flip(decode(value))).issues ?? []

describe("a body that does not fit", () => {
  test("is answered with all that is wrong", () => {
    expect(issuesOf({ vmids: [1, "a", 2, "b"] }).map(({ path }) => path)).toEqual(["vmids[1]", "vmids[3]"])
  })

  test("is answered with what is missing, in plain words", () => {
    expect(Effect.runSync(Effect.flip(decode({}))).message).toBe("Cannot read the request body: vmids is missing")
  })

  test("is answered with no more issues than a person reads", () => {
    expect(issuesOf({ vmids: Array.from({ length: 500 }, () => "x") })).toHaveLength(20)
  })

  test.each([
    ["many values", { vmids: Array.from({ length: 300_000 }, () => ({})) }],
    ["many lists", { vmids: Array.from({ length: 1500 }, () => ["x", "y"]) }],
    ["many names", Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`name${n}`, n]))],
  ])("is told the first finding alone where it has %s", (_, value) => {
    expect(issuesOf(value)).toHaveLength(1)
  })
})
