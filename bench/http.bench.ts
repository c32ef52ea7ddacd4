/**
 * The cost of the pipeline: requests per second of authenticated reads over SQLite with 100 ranges and 1,000 VMs, compared with a bare
 * node:http server that returns the same bytes; alternating, each in a process of its own.
 */
import autocannon from "autocannon"
import { fork, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Ready } from "./http-subject.ts"
import { keyOf } from "./stock.ts"

const quick = process.argv.includes("--quick")
const rounds = quick ? 1 : 3
const seconds = quick ? 1 : 4
const connections = 32
/** The user who sends the request, and the minimum share of the bare server's rate. */
const reads = [
  { path: "/api/v2/range/all", who: "AD", least: 0.6 },
  { path: "/api/v2/range", who: "ME", least: 0.4 },
] as const
const longestKeyCheck = 20
const longestWait = 20

export interface HttpTiming {
  readonly path: string
  readonly bytes: number
  readonly ours: number
  readonly bare: number
  readonly ratio: number
  readonly least: number
  readonly p99: number
  /** CPU microseconds per request: the figure that other load on the machine affects least. */
  readonly cpu: { readonly ours: number; readonly bare: number }
}

const start = async (...args: readonly string[]): Promise<Ready & { readonly process: ChildProcess }> => {
  const script = fileURLToPath(new URL("http-subject.ts", import.meta.url))
  const child = fork(script, args, { stdio: ["ignore", "pipe", "inherit", "ipc"] })
  const [line] = (await once(child.stdout ?? child, "data")) as [Buffer]
  return { ...(JSON.parse(String(line)) as Ready), process: child }
}

/** Microseconds of processor time that the process has used. */
const cpuOf = async ({ process: child }: { readonly process: ChildProcess }): Promise<number> => {
  child.send("cpu")
  const [used] = (await once(child, "message")) as [NodeJS.CpuUsage]
  return used.user + used.system
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

export const timeHttp = async (): Promise<{ readonly timings: readonly HttpTiming[]; readonly keyCheck: Ready["keyCheck"] }> => {
  const folder = mkdtempSync(join(tmpdir(), "rangewright-bench-"))
  const ours = await start("ours", folder)
  const bare = await start("bare")
  const timings: HttpTiming[] = []
  try {
    for (const { path, who, least } of reads) {
      const headers = { "x-api-key": keyOf(who) }
      const urls = { ours: `http://127.0.0.1:${ours.port}${path}`, bare: `http://127.0.0.1:${bare.port}${path}` }
      const response = await fetch(urls.ours, { headers })
      if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
      const body = await response.arrayBuffer()
      await fetch(urls.bare, { method: "PUT", body })
      const rates = { ours: [] as number[], bare: [] as number[] }
      const cpu = { ours: [] as number[], bare: [] as number[] }
      const subjects = { ours, bare }
      const waits: number[] = []
      for (let round = 0; round < rounds; round++)
        for (const side of ["bare", "ours"] as const) {
          const before = await cpuOf(subjects[side])
          const result = await autocannon({ url: urls[side], connections, duration: seconds, headers })
          if (result.errors + result.non2xx > 0)
            throw new Error(`${side} ${path}: ${result.errors} errors, ${result.non2xx} refusals`)
          rates[side].push(result.requests.average)
          cpu[side].push(((await cpuOf(subjects[side])) - before) / result.requests.total)
          if (side === "ours") waits.push(result.latency.p99)
        }
      const rate = { ours: median(rates.ours), bare: median(rates.bare) }
      timings.push({
        path,
        bytes: body.byteLength,
        ...rate,
        ratio: rate.ours / rate.bare,
        least,
        p99: median(waits),
        cpu: { ours: median(cpu.ours), bare: median(cpu.bare) },
      })
    }
  } finally {
    for (const { process } of [ours, bare]) process.kill()
    rmSync(folder, { recursive: true })
  }
  return { timings, keyCheck: ours.keyCheck }
}

if (import.meta.main) {
  const { timings, keyCheck } = await timeHttp()
  const row = (name: string, ...cells: readonly string[]): string =>
    `${name.padEnd(22)}${cells.map((cell) => cell.padStart(12)).join("")}`
  console.log(row("read", "bytes", "ours req/s", "bare req/s", "ratio", "at least", "p99 ms", "ours us", "bare us"))
  for (const t of timings)
    console.log(
      row(
        t.path,
        String(t.bytes),
        t.ours.toFixed(0),
        t.bare.toFixed(0),
        t.ratio.toFixed(2),
        t.least.toFixed(2),
        t.p99.toFixed(0),
        t.cpu.ours.toFixed(1),
        t.cpu.bare.toFixed(1),
      ),
    )
  console.log(`key check: ${keyCheck?.hash.toFixed(1)} us, with the user read from the store ${keyCheck?.whole.toFixed(1)} us`)
  const missed = [
    ...timings.filter(({ ratio, least }) => ratio < least).map(({ path }) => `ratio of ${path}`),
    ...timings.filter(({ p99 }) => p99 >= longestWait).map(({ path }) => `p99 of ${path}`),
    ...((keyCheck?.hash ?? Infinity) < longestKeyCheck ? [] : ["key check"]),
  ]
  console.log(missed.length === 0 ? "all reached" : `MISSED: ${missed.join(", ")}`)
}
