import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { beforeEach, describe, expect, it, onTestFinished } from "vitest"
import { sizeOf } from "../src/folder-size.ts"
import { removeFolder } from "../src/remove-folder.ts"

/** Folders in folders, with a file in the last one, beyond the longest path. */
const makeDeep = `import os, sys
os.chdir(sys.argv[1])
for _ in range(200):
    os.mkdir("d" * 50)
    os.chdir("d" * 50)
with open("file", "wb") as file: file.write(b"x" * 100_000)`

describe("a folder that a tool wrote to", () => {
  let outer: string
  let folder: string
  beforeEach(() => {
    outer = mkdtempSync(join(tmpdir(), "rw-remove-"))
    folder = join(outer, "folder")
    mkdirSync(folder)
    onTestFinished(() => rmSync(outer, { recursive: true, force: true }))
  })

  it("is removed even if its folders nest too deep for a path", async () => {
    execFileSync("python3", ["-c", makeDeep, folder])
    await expect(rm(folder, { recursive: true })).rejects.toThrow("ENAMETOOLONG")
    await removeFolder(folder)
    expect(existsSync(folder)).toBe(false)
  })

  it("is removed even if its owner may not enter some of its folders", async () => {
    mkdirSync(join(folder, "a", "b"), { recursive: true })
    for (const closed of [join(folder, "a", "b"), join(folder, "a")]) chmodSync(closed, 0)
    await removeFolder(folder)
    expect(existsSync(folder)).toBe(false)
  })

  it("is removed without the targets of its links", async () => {
    writeFileSync(join(outer, "kept"), "kept")
    mkdirSync(join(outer, "folder-kept"))
    symlinkSync(join(outer, "kept"), join(folder, "link"))
    symlinkSync(join(outer, "folder-kept"), join(folder, "folder-link"))
    execFileSync("mkfifo", [join(folder, "pipe")])
    execFileSync("python3", ["-c", makeDeep, folder])
    await removeFolder(folder)
    expect([existsSync(folder), readFileSync(join(outer, "kept"), "utf8")]).toEqual([false, "kept"])
    expect(existsSync(join(outer, "folder-kept"))).toBe(true)
  })

  it("holds nothing up, however many files are in it", { timeout: 120_000 }, async () => {
    const makeMany = "import os, sys\nfor n in range(100_000): os.mknod(f'{sys.argv[1]}/{n}')"
    execFileSync("python3", ["-c", makeMany, folder])
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    expect(await sizeOf([folder], 100_000)).toBeGreaterThan(100_000)
    await removeFolder(folder)
    delay.disable()
    expect(existsSync(folder)).toBe(false)
    expect(delay.max / 1e6).toBeLessThan(500)
  })

  it("may be gone already", async () => {
    await removeFolder(join(outer, "none"))
  })

  it("counts as too large when a part cannot be read", async () => {
    expect(await sizeOf([folder], 50_000)).toBe(0)
    execFileSync("python3", ["-c", makeDeep, folder])
    expect(await sizeOf([folder], 150_000)).toBeGreaterThan(150_000)
    await removeFolder(folder)
  })
})
