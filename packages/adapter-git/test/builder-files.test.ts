import { contentLayer } from "../src/layer.ts"
import { BuilderFiles } from "@rangewright/ports"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { Worker } from "node:worker_threads"
import { builderReader } from "../src/builder/builder-reader.ts"

const folder = mkdtempSync(join(tmpdir(), "builders-"))
const runtime = ManagedRuntime.make(contentLayer({ folder }))
afterAll(async () => {
  await runtime.dispose()
  rmSync(folder, { recursive: true, force: true })
})
const read = (path: string, text: string) => runtime.runPromise(BuilderFiles.use((files) => files.read(path, text)))

test("a builder file is read in its own thread, once for each content, and one that exceeds a limit yields nothing", async () => {
  const text = 'variable "vm_name" { default = "debian" }\n'
  const all = await Promise.all(["a.pkr.hcl", "b/c.pkr.hcl"].map((path) => read(path, text)))
  expect(all.map(({ name, declares }) => [name, [...declares]])).toEqual([
    ["debian", ["vm_name"]],
    ["debian", ["vm_name"]],
  ])
  expect(all[0]).toBe(all[1])
  expect((await read("a.pkr.json", JSON.stringify({ variable: { vm_name: { default: "json" } } }))).name).toBe("json")
  for (const bomb of ["a = ".concat("[".repeat(500_000)), 'variable "a" {}\n'.repeat(30_000), "x".repeat(10_000_000)])
    expect((await read("a.pkr.hcl", bomb)).name).toBeUndefined()
  expect((await read("d.pkr.hcl", `${text}#`)).name).toBe("debian")
})

test("a file that takes too much processor time or memory ends its thread alone, and the next is read", async () => {
  let threads = 0
  const program = `
    const { parentPort } = require("node:worker_threads")
    parentPort.on("message", ({ text }) => {
      if (text === "endless") for (;;);
      if (text === "large") for (const all = []; ; ) all.push(new Array(1e6).fill(all.length))
      if (text === "ends") process.exit(1)
      if (text === "throws") throw new Error("no")
      parentPort.postMessage({ name: text })
    })`
  const readApart = builderReader((resourceLimits) => {
    threads += 1
    return new Worker(program, { eval: true, resourceLimits })
  })
  const names = await Promise.all(
    ["a", "ends", "b", "endless", "c", "throws", "large", "d"].map((text) => readApart("x.pkr.hcl", text)),
  )
  expect(names.map(({ name }) => name)).toEqual(["a", undefined, "b", undefined, "c", undefined, undefined, "d"])
  expect(threads).toBe(5)
})
