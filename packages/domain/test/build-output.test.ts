import { openBuildOutput } from "@rangewright/domain"
import { describe, expect, test } from "vitest"

const said = (texts: readonly string[], secrets: readonly string[] = []): string => {
  const output = openBuildOutput(secrets)
  return texts.map((text) => output.push(text)).join("") + output.end()
}

describe("what the builder prints", () => {
  test("comes as whole lines, wherever it was cut", () => {
    expect(said(["==> a: Crea", "ting\n\n==> a: Star", "ting\r", "\nlast"])).toBe("==> a: Creating\n\n==> a: Starting\nlast\n")
  })

  test("contains no terminal escape sequences, and turns a progress bar into lines", () => {
    expect(said(["\u001b[1;32m==> a: \u001b[0mok\u001b]0;title\u0007\n", "10%\r20%\r\n", "a\u0000b\u202ec\n"])).toBe(
      "==> a: ok\n10%\n20%\na\ufffdb\ufffdc\n",
    )
  })

  test("masks secrets even across chunks or in endless lines, and leaves words alone that match a template's password", () => {
    expect(said(["password s3cr", "et-long and s3cret\n"], ["s3cret", "s3cret-long", ""])).toBe("password *** and ***\n")
    for (const at of [65_530, 65_536, 131_072, 200_001]) {
      const text = `${"x".repeat(at)}s3cret-long${"y".repeat(200_000)}`
      const pieces = text.match(/[\s\S]{1,4096}/gu) ?? []
      expect(said(pieces, ["s3cret-long"])).not.toContain("s3cret")
    }
    expect(said(["debian:debian\n"], ["generated"])).toBe("debian:debian\n")
  })

  test("says in plain words, once, that a machine does not answer yet", () => {
    const line = "2026/01/01 [DEBUG] Error getting SSH address: 500 QEMU guest agent is not running\n"
    expect(said([line, line, "==> a: Connected\n", line]).match(/^=> .*guest agent does not answer yet.*$/gmu)).toHaveLength(2)
  })

  test("ends with a reason when it is too long, and costs nothing from then on", () => {
    const output = openBuildOutput([])
    const chunk = `${"a".repeat(1000)}\n`.repeat(1000)
    let kept = ""
    for (let n = 0; n < 1000; n++) kept += output.push(chunk)
    expect(kept.length).toBeLessThan(9 * 1024 * 1024)
    expect(kept).toMatch(/\n=> The log is longer than 8 MiB: the rest is not kept\n$/u)
    const endless = openBuildOutput([])
    let text = ""
    for (let n = 0; n < 2000; n++) text += endless.push("b".repeat(65_536))
    expect(text.length).toBeLessThan(9 * 1024 * 1024)
  })
})
