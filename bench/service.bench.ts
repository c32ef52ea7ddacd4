/**
 * How soon the service is ready, and how much memory it takes when nothing happens: the process that `npm start` runs, as tools/run.sh starts it, on SQLite with 100 ranges and 1,000
 * VMs, observing a simulator in this process that has the same VMs. `ready` is the moment its log says so; /readyz agrees then.
 */
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { keyOf, stockedMachines } from "./stock.ts"
import { type Ready, startService, withStock } from "./stocked-service.ts"

const quick = process.argv.includes("--quick")
const starts = quick ? 2 : 6
const idleSeconds = quick ? 2 : 10
const goals = { readyMillis: 600, idleMebibytes: 130 } as const

/** Resident memory now, and the most there was, in MiB: Linux tells it of any process. */
const memoryOf = (pid: number | undefined): { readonly now: number; readonly peak: number } => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s*(\\d+) kB`, "mu").exec(status)?.[1]) / 1024
  return { now: field("VmRSS"), peak: field("VmHWM") }
}

const expectAnswer = async (url: string, headers: Record<string, string> = {}): Promise<string> => {
  const answer = await fetch(url, { headers })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${text}`)
  return text
}

interface ServiceTiming {
  readonly ready: Ready
  /** Undefined where the service did not run long enough to be idle. */
  readonly memory: { readonly now: number; readonly peak: number } | undefined
}

const measureOnce = async (environment: NodeJS.ProcessEnv, idle: boolean): Promise<ServiceTiming> => {
  const { process: child, ready, url } = await startService(environment)
  try {
    await expectAnswer(`${url}/readyz`)
    const ranges = JSON.parse(await expectAnswer(`${url}/api/v2/range/all`, { "x-api-key": keyOf("AD") })) as readonly {
      readonly VMs: readonly unknown[]
    }[]
    const seen = ranges.reduce((sum, { VMs }) => sum + VMs.length, 0)
    if (seen !== stockedMachines.length) throw new Error(`the service knows ${seen} VMs, not ${stockedMachines.length}`)
    if (!idle) return { ready, memory: undefined }
    await setTimeout(idleSeconds * 1000)
    return { ready, memory: memoryOf(child.pid) }
  } finally {
    child.kill("SIGTERM")
    await once(child, "exit")
  }
}

const measure = (): Promise<readonly ServiceTiming[]> =>
  withStock(async (environment) => {
    const timings: ServiceTiming[] = []
    for (let n = 0; n < starts; n++) timings.push(await measureOnce(environment, n === starts - 1))
    return timings
  })

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const line = (what: string, measured: number, goal?: number): void => {
  const verdict = goal === undefined ? "" : `${`<= ${goal}`.padStart(10)}  ${measured <= goal ? "reached" : "MISSED"}`
  console.log(`${what.padEnd(56)}${measured.toFixed(0).padStart(8)}${verdict}`)
}

if (import.meta.main) {
  const timings = await measure()
  const [first, ...later] = timings.map(({ ready }) => ready)
  if (first !== undefined) line("first start on a data folder, ms to ready", first.wall)
  line(`later starts, median of ${later.length}, ms to ready`, median(later.map(({ wall }) => wall)), goals.readyMillis)
  line("  of these on processors", median(later.map(({ processors }) => processors)))
  const memory = timings.at(-1)?.memory
  if (memory === undefined) throw new Error("the last start was not idle")
  line(`MiB resident after ${idleSeconds} s without a request`, memory.now, goals.idleMebibytes)
  line("  most until then", memory.peak)
}
