import * as Result from "effect/Result"
import { describe, expect, test } from "vitest"
import {
  isGitName,
  onOneLine,
  parseGitUrl,
  parseSubmoduleUrl,
  readRoleVariables,
  readSnapshotText,
  wantedRole,
  withoutTrailing,
} from "../src/index.ts"
import { readRoleReceipt } from "../src/library/receipt.ts"

/** Whoever tries each character of a run as a beginning takes minutes for so many. */
const many = 400_000

describe("a text with a long run of one character is read in one pass", () => {
  test("a number of a role's variables", () => {
    const seven = `${"0".repeat(many)}7`
    const defaults = `a: ${seven}\nb: 1.5e+3\nc: 1e3\n`
    expect(readRoleVariables((path) => (path === "defaults/main.yml" ? defaults : undefined)).defaults).toEqual({
      a: 7,
      b: 1500,
      c: "1e3",
    })
  })

  test("blanks in what goes on one line", () => {
    expect(onOneLine(`a \n\n b${" ".repeat(many)}c`)).toBe(`a b${" ".repeat(many)}c`)
  })

  test("what is cut off at the end", () => {
    expect(withoutTrailing(`${"/".repeat(many)}x//`, "/")).toBe(`${"/".repeat(many)}x`)
    expect(withoutTrailing("/".repeat(many), "/")).toBe("")
    expect(isGitName(`${" .".repeat(many)}x`)).toBe(false)
    expect(isGitName(`.git${" .".repeat(many)}`)).toBe(true)
  })

  test("the description of a snapshot", () => {
    expect(readSnapshotText(`a${"\n".repeat(many)}x`)).toBe(`a${"\n".repeat(many)}x`)
    expect(readSnapshotText("before the exam\n[rangewright abc1]")).toBe("before the exam")
    expect(readSnapshotText("[rangewright abc1]")).toBe("")
  })

  test("the version in a role's receipt", () => {
    expect(readRoleReceipt(`install_date: now\nversion:x${" ".repeat(many)}y\n`)).toBeUndefined()
    expect(readRoleReceipt("install_date: now\nversion: 1.2 \r\n")).toBe("1.2")
  })

  test("the name of a role that is asked for", () => {
    const name = "@".repeat(many)
    expect(wantedRole({ name }).origin).toEqual({ from: "name", name })
    for (const [asked, from] of [
      ["git@host:team/role.git", "git"],
      ["@@host:x", "git"],
      ["a@:x", "name"],
      ["@a:x", "name"],
      ["a/b@c:x", "name"],
    ] as const)
      expect([asked, wantedRole({ src: asked }).origin.from]).toEqual([asked, from])
  })

  test("the path of the repository that a submodule is relative to", () => {
    const parent = Result.getOrThrow(parseGitUrl("https://git.example/team/lab/"))
    const path = `/team${"/".repeat(many)}lab`
    const found = parseSubmoduleUrl({ ...parent, path, remote: `https://git.example${path}` }, "../other.git")
    expect(Result.isFailure(found)).toBe(true)
  })
})
