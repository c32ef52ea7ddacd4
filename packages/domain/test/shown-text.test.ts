import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isShownLine, isShownText, shownText } from "../src/source/shown-text.ts"

const points = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => String.fromCodePoint(from + i))

describe("text that is shown", () => {
  it("steers no terminal and does not turn what follows it: such characters are replaced, one by one", () => {
    const steering = [
      ...points(0, 0x1f).filter((c) => !"\t\n\r".includes(c)),
      ...points(0x7f, 0x9f),
      ...points(0x202a, 0x202e),
      ...points(0x2066, 0x2069),
    ]
    for (const c of steering) {
      expect(isShownText(`a${c}b`)).toBe(false)
      expect(shownText(`a${c}b`)).toBe("a\ufffdb")
    }
    expect(shownText("\u001b[31mok\u001b[0m")).toBe("\ufffd[31mok\ufffd[0m")
  })

  it("is left as it is in any script, with marks that turn nothing but themselves", () => {
    for (const text of ["two\r\nlines\tand more", "é 漢 🙂", "שלום\u200e עולם\u200f", "a\u2065\u202f\u206a"]) {
      expect(shownText(text)).toBe(text)
      expect(isShownText(text)).toBe(true)
    }
    expect(isShownLine("one\tline")).toBe(false)
  })

  it("is as long as it was, and nothing in it is left to replace", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const shown = shownText(text)
        expect(shown).toHaveLength(text.length)
        expect(isShownText(shown)).toBe(true)
        expect(shownText(shown)).toBe(shown)
      }),
    )
  })
})
