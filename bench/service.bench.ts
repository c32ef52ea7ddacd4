/**
 * How soon the service is ready, and how much memory it takes when nothing happens: the process that `npm start` runs, as tools/run.sh starts it, on SQLite with 100 ranges and 1,000
 * VMs, observing a simulator in this process that has the same VMs. `ready` is the moment its log says so; /readyz agrees then.
 */
import { credentialHasher, firstHashKey } from "@rangewright/adapter-crypto"
import { storageLayer } from "@rangewright/adapter-storage"
import { CredentialHasher } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { keyOf, stock, stockedMachines } from "./stock.ts"
import { stockedSimulator } from "./stocked-simulator.ts"

const quick = process.argv.includes("--quick")
const starts = quick ? 2 : 6
const idleSeconds = quick ? 2 : 10
const goals = { readyMillis: 600, idleMebibytes: 130 } as const

const secretKey = Buffer.alloc(32)
const main = fileURLToPath(new URL("../packages/server/dist/bundle/main.js", import.meta.url))

/** From the spawn, in milliseconds: by the wall clock, and what the processors worked for it, which other processes hardly change. */
interface Ready {
  readonly wall: number
  readonly processors: number
}

interface Started {
  readonly process: ChildProcess
  readonly ready: Ready
  readonly url: string
}

/** Starts the service and waits until its log says that it is ready. */
const startService = async (environment: NodeJS.ProcessEnv): Promise<Started> => {
  const began = performance.now()
  const child = spawn(process.execPath, ["--max-semi-space-size=4", main], {
    env: { MALLOC_ARENA_MAX: "1", ...process.env, ...environment },
    stdio: ["ignore", "ignore", "pipe"],
  })
  const said: string[] = []
  for await (const line of createInterface({ input: child.stderr })) {
    said.push(line)
    const entry = JSON.parse(line) as { readonly msg: string; readonly urls?: readonly string[] }
    const url = entry.urls?.[0]
    if (entry.msg !== "ready" || url === undefined) continue
    child.stderr.resume()
    const ready = { wall: performance.now() - began, processors: processorMillis(child.pid) }
    return { process: child, ready, url: url.replace("https:", "http:") }
  }
  throw new Error(`the service ended before it was ready:\n${said.join("\n")}`)
}

/** Time on processors since its start, counted by Linux in hundredths of a second. */
const processorMillis = (pid: number | undefined): number => {
  const afterName = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1] ?? ""
  const [user, system] = afterName.split(" ").slice(11, 13)
  return (Number(user) + Number(system)) * 10
}

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

const seedStore = (folder: string): Promise<void> =>
  Effect.runPromise(
    Effect.provide(
      stock,
      Layer.merge(
        storageLayer({ file: join(folder, "rangewright.db") }),
        Layer.succeed(CredentialHasher, credentialHasher(firstHashKey({ bytes: secretKey }))),
      ),
    ),
  )

const measure = async (): Promise<readonly ServiceTiming[]> => {
  const folder = mkdtempSync(join(tmpdir(), "rangewright-bench-"))
  const simulator = await stockedSimulator()
  try {
    await seedStore(folder)
    const { url } = await simulator.listen({ tls: false })
    const [id, secret] = simulator.rootToken.split("=")
    const environment = {
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? join(folder, "v8"),
      RANGEWRIGHT_DATA: folder,
      RANGEWRIGHT_HOST: "127.0.0.1",
      RANGEWRIGHT_PORT: "0",
      RANGEWRIGHT_SECRET_KEY: secretKey.toString("base64"),
      RANGEWRIGHT_LOG_FORMAT: "json",
      RANGEWRIGHT_PROXMOX_URL: url,
      RANGEWRIGHT_PROXMOX_TOKEN_ID: id,
      RANGEWRIGHT_PROXMOX_TOKEN_SECRET: secret,
    }
    const timings: ServiceTiming[] = []
    for (let n = 0; n < starts; n++) timings.push(await measureOnce(environment, n === starts - 1))
    return timings
  } finally {
    await simulator.close()
    rmSync(folder, { recursive: true })
  }
}

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
