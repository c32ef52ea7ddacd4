import { contentLayer } from "@rangewright/adapter-git"
import { ContentFault, ContentFetcher } from "@rangewright/ports"
import * as Exit from "effect/Exit"
import * as Cause from "effect/Cause"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { hostileTars } from "./support/hostile-tar.ts"
import { hostileZips } from "./support/hostile-zip.ts"

const root = mkdtempSync(join(tmpdir(), "hostile-"))
const [folder, outside, upload] = [join(root, "data"), join(root, "outside"), join(root, "upload")]
mkdirSync(outside)
writeFileSync(join(outside, "kept"), "as it was")
const runtime = ManagedRuntime.make(contentLayer({ folder }))
afterAll(async () => {
  await runtime.dispose()
  rmSync(root, { recursive: true, force: true })
})

const goals = { cpuMillis: 2000, mebibytes: 64 }
const linux = process.platform === "linux"

/** Memory of this process in MiB: now, or the peak since it was last reset. */
const memory = (field: "VmRSS" | "VmHWM"): number =>
  Number(new RegExp(`^${field}:\\s*(\\d+) kB`, "mu").exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024

const fetch = (filename: string) =>
  ContentFetcher.use((fetcher) => fetcher.fetch({ location: { type: "archive", file: upload, name: filename }, holder: "test" }))

/** Everything of this test except what the fetcher keeps, which soon are many thousands of files. */
const surroundings = () =>
  [root, outside]
    .flatMap((at) => readdirSync(at).map((name) => join(at, name)))
    .filter((path) => path !== folder)
    .map((path) => [path, lstatSync(path).size])

/** Fetches it, and returns its cost along with the outcome. */
const read = async (filename: string, bytes: Uint8Array) => {
  writeFileSync(upload, bytes)
  const before = { around: surroundings(), cpu: process.cpuUsage(), resident: linux ? memory("VmRSS") : 0 }
  if (linux) writeFileSync("/proc/self/clear_refs", "5")
  const exit = await runtime.runPromiseExit(fetch(filename))
  const { user, system } = process.cpuUsage(before.cpu)
  const mebibytes = linux ? memory("VmHWM") - before.resident : 0
  expect(surroundings()).toEqual(before.around)
  expect(readdirSync(join(folder, "scratch"))).toEqual([])
  return { exit, cpuMillis: (user + system) / 1000, mebibytes }
}

const archives = [...hostileTars(outside), ...hostileZips(outside)]

describe("hostile archives", () => {
  beforeAll(async () => {
    // one-time loading is not counted
    await read("x.tar", Buffer.from("warm"))
  })

  test("there are hundreds, all different", () => {
    expect(archives.length).toBeGreaterThanOrEqual(300)
    expect(new Set(archives.map(({ family, name }) => `${family} ${name}`)).size).toBe(archives.length)
  })

  const kept = () => readdirSync(join(folder, "snapshots")).length

  test.each(archives.map((archive) => [archive.family, archive.name, archive] as const))(
    "%s, %s: nothing outside, nothing left, at little cost",
    async (_, __, { filename, bytes, refused }) => {
      const [content, snapshots] = [bytes(), kept()]
      const { exit, ...cost } = await read(filename, content)
      if (Exit.isFailure(exit)) {
        const fault = Cause.squash(exit.cause)
        if (!(fault instanceof ContentFault)) throw fault
        expect(["refused", "broken", "too-large"]).toContain(fault.facts.reason)
        expect(kept()).toBe(snapshots)
      } else expect(refused).toBeUndefined()
      expect(cost.cpuMillis).toBeLessThanOrEqual(goals.cpuMillis)
      expect(cost.mebibytes).toBeLessThanOrEqual(goals.mebibytes)
    },
    // making the largest, and removing its results, takes long on a busy machine
    120_000,
  )
})
