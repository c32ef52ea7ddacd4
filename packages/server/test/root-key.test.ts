import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { keyInFile } from "../src/compose/root-key.ts"

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "root-key-"))))
afterEach(() => rmSync(folder, { recursive: true }))

const read = (text?: string): Promise<string> => {
  const path = join(folder, "key")
  if (text !== undefined) writeFileSync(path, text)
  return Effect.runPromise(keyInFile(path))
}

describe("a key for ROOT in a file", () => {
  test.each([`ROOT.${"k".repeat(40)}`, "ROOT._7Gx2T5kTUSD%uTWZ*lFi=Os6MpFR^OrG+yT94Xt"])("may be %s", async (key) => {
    expect(await read(`${key}\n`)).toBe(key)
  })

  test.each([
    ["nothing", ""],
    ["too short", "ROOT.short"],
    ["another user's", `JD.${"k".repeat(40)}`],
    ["with a second dot", `ROOT.${"k".repeat(20)}.${"k".repeat(19)}`],
    ["some other text", `ROOT.${"secret-word ".repeat(20)}`],
  ])("is refused when it is %s, and the refusal does not show it", async (_what, text) => {
    const refusal = await read(text).catch((error: unknown) => String(error))
    expect(refusal).toContain(`Cannot give ROOT the key in ${join(folder, "key")}`)
    expect(refusal).not.toContain("secret-word")
  })

  test("is refused when there is no such file, or it is a folder", async () => {
    await expect(read()).rejects.toThrow("Cannot give ROOT the key")
    await expect(Effect.runPromise(keyInFile(folder))).rejects.toThrow(`Cannot give ROOT the key in ${folder}`)
  })
})
