import {
  installation,
  parseSubjectKey,
  rangeOf,
  type RunSubject,
  subjectKey,
  subjectText,
  subjectTypes,
} from "@rangewright/domain"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const subjects = fc.record({
  type: fc.constantFrom(...subjectTypes),
  id: fc.string({ unit: "binary" }),
}) as fc.Arbitrary<RunSubject>

describe("what a run changes", () => {
  it("has a unique key", () => {
    fc.assert(
      fc.property(subjects, subjects, (a, b) => {
        expect(parseSubjectKey(subjectKey(a))).toEqual(a)
        expect(subjectKey(a) === subjectKey(b)).toBe(a.type === b.type && a.id === b.id)
      }),
    )
    expect(subjectKey({ type: "source", id: "a:b" })).toBe("source:a:b")
  })

  it.each(["", "range", ":LAB", "rangeLAB", "Range:LAB", "__proto__:x", "constructor:x"])("is not read from %j", (text) => {
    expect(parseSubjectKey(text)).toBeUndefined()
  })

  it("is a range or not", () => {
    expect(rangeOf({ subject: { type: "range", id: "LAB" as never } })).toBe("LAB")
    expect(rangeOf({ subject: { type: "blueprint", id: "LAB" } })).toBeUndefined()
    expect([installation, { type: "source", id: "web" } as const].map(subjectText)).toEqual(["the installation", "source web"])
  })
})
