import { defaultTreeLimits } from "@rangewright/domain"
import { SubscriptionFault } from "@rangewright/ports"
import { contentLayer } from "@rangewright/adapter-git"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import fc from "fast-check"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { afterAll, describe, expect, test } from "vitest"
import { tar, tarGz, type TarEntry } from "../contracts/content/support/archives.ts"
import { unpack } from "../../packages/adapter-subscription/src/package/unpack.ts"

const limits = { ...defaultTreeLimits, files: 100, fileBytes: 1024 * 1024, totalBytes: 2 * 1024 * 1024 }
const root = mkdtempSync(join(tmpdir(), "packages-"))
const runtime = ManagedRuntime.make(contentLayer({ folder: root }))
afterAll(async () => {
  await runtime.dispose()
  rmSync(root, { recursive: true, force: true })
})
const unpacked = (packed: Uint8Array) => runtime.runPromise(unpack("fetch it", packed, limits))
const reasonOf = (packed: Uint8Array) =>
  unpacked(packed).then(
    () => "taken",
    (cause: unknown) => (cause instanceof SubscriptionFault ? cause.facts.reason : `not a fault: ${String(cause)}`),
  )
const one = (entry: Partial<TarEntry>): Buffer =>
  tarGz([
    { name: "tasks/main.yml", content: "- x\n" },
    { name: "x", ...entry },
  ])

describe("the files of a package", () => {
  test("come out as they went in", async () => {
    const entries = await unpacked(
      tarGz([
        { name: "./tasks/", type: "5" },
        { name: "./tasks/main.yml", content: "- x\n" },
        { name: "files/run", content: "#!/bin/sh\n", mode: 0o755 },
        { name: "files/again", type: "2", link: "run" },
      ]),
    )
    expect(entries.map(({ kind, path }) => [kind, path])).toEqual([
      ["link", "files/again"],
      ["file", "files/run"],
      ["file", "tasks/main.yml"],
    ])
    const [, program, tasks] = entries
    expect(program).toMatchObject({ executable: true, size: 10 })
    expect(tasks?.kind === "file" ? Buffer.from(await Effect.runPromise(tasks.read)).toString() : "").toBe("- x\n")
  })

  test.each<readonly [string, Partial<TarEntry>]>([
    ["a path that climbs", { name: "../../etc/cron.d/x", content: "x" }],
    ["a path that climbs inside", { name: "a/../../x", content: "x" }],
    ["an absolute path", { name: "/etc/passwd", content: "x" }],
    ["a backslash", { name: "..\\x", content: "x" }],
    ["a path twice", { name: "tasks/main.yml", content: "x" }],
    ["a path twice but for its case", { name: "tasks/MAIN.yml", content: "x" }],
    ["a file that is a folder too", { name: "tasks", content: "x" }],
    ["a link that leads out", { type: "2", link: "../../../../etc/shadow" }],
    ["an absolute link", { type: "2", link: "/etc/shadow" }],
    ["a link to itself", { type: "2", link: "x" }],
    ["a hard link", { type: "1", link: "/etc/shadow" }],
    ["a device", { type: "3" }],
    ["a pipe", { type: "6" }],
    ["a file that changes its user", { content: "x", mode: 0o4755 }],
  ])("do not include %s", async (_, entry) => {
    expect(await reasonOf(one(entry))).toBe("broken")
  })

  test("cannot exceed the limits of a role", async () => {
    expect(await reasonOf(tarGz(Array.from({ length: 101 }, (_, n) => ({ name: `f${n}`, content: "" }))))).toBe("too-large")
    expect(await reasonOf(tarGz(Array.from({ length: 500 }, (_, n) => ({ name: `d${n}`, type: "5" }))))).toBe("broken")
    expect(await reasonOf(one({ content: Buffer.alloc(limits.fileBytes + 1) }))).toBe("too-large")
    const half = Buffer.alloc(limits.fileBytes)
    expect(await reasonOf(tarGz(["a", "b", "c"].map((name) => ({ name, content: half }))))).toBe("too-large")
  })

  test("that would be a gigabyte of zeros end at the limit", async () => {
    const zeros = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    // consecutive gzip members are one stream: 16 of 64 MiB
    const bomb = Buffer.concat(Array.from({ length: 16 }, () => zeros))
    expect(bomb.length).toBeLessThan(2 * 1024 * 1024)
    const before = process.memoryUsage().arrayBuffers
    expect(await reasonOf(bomb)).toBe("too-large")
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024)
    expect(await reasonOf(one({ content: "x", size: 0o7777777777 }))).toBe("too-large")
  })

  test.each<readonly [string, Uint8Array]>([
    ["nothing", Buffer.alloc(0)],
    ["no gzip", tar([{ name: "x", content: "x" }])],
    ["a gzip cut off", one({ content: "x" }).subarray(0, -12)],
    ["a gzip in a gzip", gzipSync(one({ content: "x" }))],
    ["text in a gzip", gzipSync("not a tar at all ".repeat(100))],
    ["an empty tar", tarGz([])],
    ["a tar of folders only", tarGz([{ name: "tasks/", type: "5" }])],
    ["a tar cut off inside a file", gzipSync(tar([{ name: "x", content: "y".repeat(2000) }]).subarray(0, 1024))],
  ])("are not read from %s", async (_, packed) => {
    expect(await reasonOf(packed)).toBe("broken")
  })

  test("of random bytes are accepted or refused, nothing else", async () => {
    const sound = tar([
      { name: "tasks/main.yml", content: "- x\n" },
      { name: "l", type: "2", link: "tasks" },
    ])
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat({ max: 1535 }), fc.nat({ max: 255 })), { maxLength: 6 }), async (changes) => {
        const bytes = Buffer.from(sound)
        for (const [at, value] of changes) bytes[at] = value
        expect(["taken", "broken", "too-large"]).toContain(await reasonOf(gzipSync(bytes)))
      }),
      { numRuns: 20 },
    )
  })
})
