import fc from "fast-check"
import { expect, it } from "vitest"
import { fromStorable, toStorable } from "../src/engine/storable-text.ts"

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.constantFrom("\u0000", "\u0001", "\ud800", "\udc00", '"', "a", "é")).map((parts) => parts.join("")),
)

it("gives every text back, and what is stored has no NUL and no half surrogate pair", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const stored = toStorable(text)
      expect(fromStorable(stored)).toBe(text)
      expect(stored.isWellFormed()).toBe(true)
      expect(stored).not.toContain("\0")
    }),
  )
})

it("keeps different texts apart, so that uniqueness rules hold", () => {
  fc.assert(fc.property(anyText, anyText, (a, b) => (toStorable(a) === toStorable(b)) === (a === b)))
})

it("leaves ordinary text alone", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme" }),
      (text) => text.startsWith("\u0001") || text.includes("\0") || toStorable(text) === text,
    ),
  )
})
