import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { spansOf, textOf } from "../src/log/ansi.ts"

const shown = (line: string): string =>
  spansOf(line)
    .map(({ text, look }) => (look === "" ? text : `<${look}>${text}</>`))
    .join("")

describe("a line of output", () => {
  test.each([
    ["no control at all", "ok: [dc01]", "ok: [dc01]"],
    ["colours", "\u001b[32mok\u001b[0m: \u001b[1;31mno\u001b[0m", "<c2>ok</>: <c1 b>no</>"],
    ["bright colours", "\u001b[91mx", "<c9>x</>"],
    ["a palette of 256 colours: the sixteen of a terminal alone", "\u001b[38;5;2mx\u001b[38;5;200my", "<c2>x</><c2>y</>"],
    ["true colours are none of ours, and their numbers no others", "\u001b[38;2;31;1;4mx", "x"],
    ["an empty parameter ends colours", "\u001b[31mx\u001b[my", "<c1>x</>y"],
    ["text in brackets is no control", "[main : 3m]", "[main : 3m]"],
    ["a link of a terminal", "\u001b]8;;javascript:alert(1)\u001b\\click\u001b]8;;\u0007!", "click!"],
    ["the clipboard", "a\u001b]52;c;ZXZpbA==\u0007b", "ab"],
    ["clearing the screen and moving about", "a\u001b[2J\u001b[10;10Hb", "ab"],
    ["one byte controls of C1", "a\u009b31mb\u009d0;title\u009cc", "a<c1>bc</>"],
    ["what turns text around", "a\u202egnp.exe\u2066b\u2069", "agnp.exeb"],
    ["a carriage return overwrites", "10 %\r50 %\r100 %\r", "100 %"],
    ["a control that does not end", "a\u001b[31", "a"],
    ["a text for the terminal that does not end", "a\u001b]0;title", "a"],
    ["markup stays text", "<script>alert(1)</script>", "<script>alert(1)</script>"],
  ])("%s", (_, line, expected) => {
    expect(shown(line)).toBe(expected)
  })

  test("with a million carriage returns is read in one pass", () => {
    expect(textOf(`${"\r".repeat(2 ** 20)}x`)).toBe("x")
    expect(textOf("\r".repeat(2 ** 20))).toBe("")
  })

  test("contains no control characters, and only known styles", () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom(
        "\u001b[",
        "\u001b]",
        "\u001b",
        "\u009b",
        "\u009d",
        "\u0007",
        "\r",
        "31m",
        "8;;",
        "\u202e",
        "m",
        "\u001b\\",
      ),
    )
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const spans = spansOf(pieces.join(""))
        for (const { text, look } of spans) {
          expect(text).not.toMatch(/(?!\t)[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
          expect(look).toMatch(/^(?:(?:c\d{1,2}|[bdiu])(?: |$))*$/u)
        }
        expect(textOf(pieces.join(""))).toBe(spans.map(({ text }) => text).join(""))
      }),
    )
  })
})
