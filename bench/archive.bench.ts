/**
 * What reading archives costs: honest ones, and, while hostile ones are read without a pause, everybody else. The service's probe is asked at
 * a fixed rate by another process, so that one answer that comes late does not hide those that were due meanwhile.
 */
import { contentLayer } from "@rangewright/adapter-git"
import { ContentFetcher } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { tarGz } from "../test/contracts/content/support/archives.ts"
import { hostileTars, noise } from "../test/contracts/content/support/hostile-tar.ts"
import { hostileZips } from "../test/contracts/content/support/hostile-zip.ts"

const goal = 3
const everyMillis = 5
const quick = process.argv.includes("--quick")

/** In a process of its own: asks until it is told to stop, and tells how long each answer took. */
const ask = async (url: string): Promise<void> => {
  const times: number[] = []
  let going = true
  process.once("message", () => (going = false))
  const asked: Promise<unknown>[] = []
  for (let due = performance.now(); going; due += everyMillis) {
    await setTimeout(Math.max(0, due - performance.now()))
    const from = due
    asked.push(fetch(url).then(async (answer) => times.push((await answer.text(), performance.now() - from))))
  }
  await Promise.all(asked)
  process.send?.(times)
  process.disconnect()
}

const p99 = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN

/** The 99th percentile of the probe's answers while the work goes on, in milliseconds. */
const probeDuring = async (url: string, work: () => Promise<unknown>): Promise<number> => {
  const child = fork(import.meta.filename, ["ask", url])
  await setTimeout(500)
  await work()
  child.send("stop")
  const [times] = (await once(child, "message")) as [number[]]
  return p99(times)
}

/** Text that packs about as well as roles do. */
const honest = (files: number, bytes: number): Uint8Array => {
  const random = noise(3)
  const words = Array.from({ length: 3000 }, () => random().toString(36).slice(2, 9))
  const text = () => {
    const parts: string[] = []
    for (let size = 0; size < bytes; size += 8) parts.push(words[Math.floor(random() * words.length)] ?? "")
    return parts.join(" ")
  }
  return tarGz(Array.from({ length: files }, (_, n) => ({ name: `role/f${n % 50}/${n}.yml`, content: text() })))
}

const main = async (): Promise<void> => {
  const root = mkdtempSync(join(tmpdir(), "rangewright-bench-"))
  const runtime = ManagedRuntime.make(contentLayer({ folder: join(root, "data") }))
  const server = createServer((_, response) => void response.end("ok"))
  await once(server.listen(0, "127.0.0.1"), "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/healthz`
  const read = (file: string, name: string, whose: string) =>
    runtime.runPromise(
      ContentFetcher.use((fetcher) =>
        Effect.exit(fetcher.fetch({ location: { type: "archive", file, name }, holder: `${file} ${whose}`, whose })),
      ),
    )
  try {
    for (const [what, files, bytes] of [
      ["a role of 3 MB", 600, 14_000],
      ["a source of 100 MB", 4000, quick ? 10_000 : 70_000],
    ] as const) {
      const file = join(root, "honest")
      const content = honest(files, bytes)
      writeFileSync(file, content)
      const start = performance.now()
      const exit = await read(file, "x.tgz", "bench")
      const millis = (performance.now() - start).toFixed(0)
      console.log(`${what} (${(content.length / 1e6).toFixed(1)} MB packed, ${files} files): ${millis} ms, ${exit._tag}`)
    }
    const all = [...hostileTars(join(root, "outside")), ...hostileZips(join(root, "outside"))]
    const chosen = all.filter((_, n) => !quick || n % 20 === 0)
    chosen.forEach(({ bytes }, n) => writeFileSync(join(root, `h${n}`), bytes()))
    const idle = await probeDuring(url, () => setTimeout(quick ? 2000 : 10_000))
    const busy = await probeDuring(url, () =>
      Promise.all(
        ["a", "b", "c"].map(async (whose) => {
          for (const [n, { filename }] of chosen.entries()) await read(join(root, `h${n}`), filename, whose)
        }),
      ),
    )
    const ratio = busy / idle
    console.log(
      `probe, p99: idle ${idle.toFixed(2)} ms; while ${chosen.length} hostile archives are read three times ${busy.toFixed(2)} ms`,
    )
    console.log(`ratio ${ratio.toFixed(2)} (goal: at most ${goal}${ratio <= goal ? "" : ", MISSED"})`)
  } finally {
    server.close()
    await runtime.dispose()
    rmSync(root, { recursive: true, force: true })
  }
}

if (import.meta.main) await (process.argv[2] === "ask" ? ask(process.argv[3] ?? "") : main())
