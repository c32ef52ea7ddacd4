import { spawnSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeEach, describe, expect, onTestFinished, test } from "vitest"
import { clearKilledDemos, makeDemoFolder } from "../src/demo/folder.ts"

let temporary: string
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), "rangewright-test-"))
  const made = temporary
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
})

interface Maker {
  readonly pid: number
  readonly began: string
  readonly among: string
}

/** The folder of a demo of which this process would be the maker, with data in it. */
const made = (where = temporary) => {
  const { data } = makeDemoFolder(where)
  writeFileSync(join(data, "rangewright.db"), "x")
  const folder = join(data, "..")
  const file = join(folder, "made-by.json")
  const change = (to: Partial<Maker>) =>
    writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, "utf8")) as Maker), ...to }))
  return { folder, file, change }
}
/** As one is left by a process that was killed. */
const left = (where = temporary) => {
  const demo = made(where)
  demo.change({ pid: spawnSync(process.execPath, ["-e", ""]).pid })
  return demo
}

test("a demo removes its folder with its content", () => {
  const { data, remove } = makeDemoFolder(temporary)
  writeFileSync(join(data, "x"), "")
  remove()
  expect(readdirSync(temporary)).toEqual([])
})

describe("the next demo", () => {
  test("removes only leftovers of demos whose process is gone, even if its pid was reused", () => {
    const [running, killed, reused] = [made(), left(), made()]
    reused.change({ began: "1" })
    writeFileSync(join(temporary, "other"), "")
    mkdirSync(join(temporary, "rangewright-demo-notes"), { mode: 0o700 })
    expect(clearKilledDemos(temporary).toSorted()).toEqual([killed.folder, reused.folder].toSorted())
    expect(existsSync(join(running.folder, "data/rangewright.db"))).toBe(true)
    expect(readdirSync(temporary)).toHaveLength(3)
    expect(clearKilledDemos(temporary)).toEqual([])
  })

  test.each<[string, (demo: ReturnType<typeof left>) => void]>([
    ["has no maker", ({ file }) => rmSync(file)],
    ["has a maker that was not written to its end", ({ file }) => writeFileSync(file, '{"pid": 4')],
    ["names no process", ({ change }) => change({ pid: 0 })],
    ["names a group of processes", ({ change }) => change({ pid: -2 })],
    ["is from another start of the machine, or from a container", ({ change }) => change({ among: "another pid:[1]" })],
    ["others may write to", ({ folder }) => chmodSync(folder, 0o777)],
    [
      "has a link for a maker",
      ({ file }) => {
        renameSync(file, join(temporary, "elsewhere"))
        symlinkSync(join(temporary, "elsewhere"), file)
      },
    ],
  ])("leaves alone one that %s", (_what, spoil) => {
    const demo = left()
    spoil(demo)
    expect(clearKilledDemos(temporary)).toEqual([])
    expect(existsSync(join(demo.folder, "data/rangewright.db"))).toBe(true)
  })

  test("follows no link in place of a folder, nor inside one", () => {
    const outside = left()
    const aside = join(temporary, "aside")
    renameSync(outside.folder, aside)
    symlinkSync(aside, join(temporary, "rangewright-demo-abcdef"))
    const inside = left()
    symlinkSync(aside, join(inside.folder, "data/link"))
    expect(clearKilledDemos(temporary)).toEqual([inside.folder])
    expect(existsSync(join(aside, "data/rangewright.db"))).toBe(true)
  })

  test("removes nothing where others could replace files, unless the sticky bit prevents that", () => {
    const demo = left()
    chmodSync(temporary, 0o777)
    expect(clearKilledDemos(temporary)).toEqual([])
    chmodSync(temporary, 0o1777)
    expect(clearKilledDemos(temporary)).toEqual([demo.folder])
    // nor below such a place
    const below = join(temporary, "below")
    mkdirSync(below, { mode: 0o700 })
    left(below)
    chmodSync(temporary, 0o777)
    expect(clearKilledDemos(below)).toEqual([])
  })

  test.skipIf(process.getuid?.() !== 0)("leaves alone what is another account's, and all in a folder of another one's", () => {
    const [demo, there] = [left(), join(temporary, "there")]
    chownSync(demo.folder, 65534, 65534)
    mkdirSync(there, { mode: 0o755 })
    left(there)
    chownSync(there, 65534, 65534)
    expect([clearKilledDemos(temporary), clearKilledDemos(there)]).toEqual([[], []])
  })
})
