import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import files from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { publishFile } from "../src/maintenance/publish.ts"

/** What the file system says to a hard link and to a copy; undefined: it makes them. */
let refusal: string | undefined
let copyRefusal: string | undefined
const { link, copyFile } = files
const refused = (code: string) => Promise.reject(Object.assign(new Error(code), { code }))

let folder: string
const at = (name: string): string => join(folder, name)
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "publish-"))
  writeFileSync(at("whole"), "whole", { mode: 0o600 })
  refusal = copyRefusal = undefined
  vi.spyOn(files, "link").mockImplementation((from, to) => (refusal === undefined ? link(from, to) : refused(refusal)))
  vi.spyOn(files, "copyFile").mockImplementation((from, to, mode) =>
    copyRefusal === undefined ? copyFile(from, to, mode) : refused(copyRefusal),
  )
  syncBuiltinESMExports()
})
afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  rmSync(folder, { recursive: true })
})

test.each([undefined, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"])(
  "a file gets its name where links say %s",
  async (code) => {
    refusal = code
    expect(await publishFile(at("whole"), at("name"))).toBe(true)
    expect([readFileSync(at("name"), "utf8"), statSync(at("name")).mode & 0o777]).toEqual(["whole", 0o600])
    writeFileSync(at("name"), "another's")
    expect(await publishFile(at("whole"), at("name"))).toBe(false)
    expect(readFileSync(at("name"), "utf8")).toBe("another's")
  },
)

test("other errors of the file system are reported, and leave nothing behind", async () => {
  refusal = "EACCES"
  await expect(publishFile(at("whole"), at("name"))).rejects.toMatchObject({ code: "EACCES" })
  ;[refusal, copyRefusal] = ["EPERM", "ENOSPC"]
  await expect(publishFile(at("whole"), at("name"))).rejects.toMatchObject({ code: "ENOSPC" })
  expect(existsSync(at("name"))).toBe(false)
})
