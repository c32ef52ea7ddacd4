import { describe, expect, test } from "vitest"
import { renderFinding, warn } from "../src/doctor/finding.ts"

describe("a finding of the doctor", () => {
  test("takes a line, and one for its hint", () => {
    expect(renderFinding(warn("disk", "is full", "Make space."))).toBe("warn  disk: is full\n        -> Make space.")
  })

  test("prints no control characters, which others may have written into names", () => {
    const printed = renderFinding(warn("left\u0007", "a\u001B[2J\u009B31m\r\nb", "c\u0000\nd"))
    expect(printed).toBe("warn  left : a [2J 31m b\n        -> c d")
  })
})
