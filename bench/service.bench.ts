/**
 * How soon the service is ready, how much memory it needs when idle, after requests and with event streams, and the cost of serving a file
 * of the web page: the process that `npm start` runs, as tools/run.sh starts it, on SQLite with 100 ranges and 1,000 VMs, observing a
 * simulator in this process that has the same VMs. `ready` is the moment at which its log says so; /readyz agrees then.
 */
import autocannon from "autocannon"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { Agent, get, type IncomingMessage } from "node:http"
import { setTimeout } from "node:timers/promises"
import { followers, keyOf, stockedMachines } from "./stock.ts"
import { processorMillis, type Ready, startService, type Started, withStock } from "./stocked-service.ts"

const quick = process.argv.includes("--quick")
const starts = quick ? 2 : 6
const idleSeconds = quick ? 2 : 10
const loadSeconds = quick ? 1 : 10
const connections = 32
const streams = 500
const goals = {
  readyMillis: 600,
  idleMebibytes: 130,
  loadedMebibytes: 200,
  streamsMebibytes: 60,
  filesEachSecond: 5_000,
} as const

/** Resident memory now, and its maximum so far, in MiB, as Linux reports it for any process. */
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

/** Sends many requests at once with a user's key; returns the CPU milliseconds per request. */
const load = async ({ process: child, url }: Started, path: string, user?: string): Promise<number> => {
  const before = processorMillis(child.pid)
  const { requests, errors, non2xx } = await autocannon({
    url: `${url}${path}`,
    connections,
    duration: loadSeconds,
    headers: { "accept-encoding": "br", ...(user === undefined ? {} : { "x-api-key": keyOf(user) }) },
  })
  if (errors + non2xx > 0) throw new Error(`${path}: ${errors} errors, ${non2xx} refusals`)
  return (processorMillis(child.pid) - before) / requests.total
}

/** Opens event streams, and measures the memory while they are open. */
const withStreams = async <A>({ url }: Started, look: () => Promise<A>): Promise<A> => {
  const agent = new Agent({ maxSockets: Infinity })
  const open = await Promise.all(
    Array.from({ length: streams }, async (_, n) => {
      const headers = { "x-api-key": keyOf(followers[n % followers.length] ?? "") }
      const [answer] = (await once(get(`${url}/api/v2/events`, { agent, headers }), "response")) as [IncomingMessage]
      if (answer.statusCode !== 200) throw new Error(`a stream was answered ${answer.statusCode}`)
      answer.resume().on("error", () => undefined)
      return answer
    }),
  )
  try {
    return await look()
  } finally {
    for (const answer of open) answer.destroy()
  }
}

/** Memory after some idle seconds. */
const rested = async ({ process: child }: Started) => {
  await setTimeout(idleSeconds * 1000)
  return memoryOf(child.pid)
}

/** The memory that streams add. */
const followed = async (service: Started) => {
  const idle = await rested(service)
  const open = await withStreams(service, () => rested(service))
  return { idle, streams: open.now - idle.now }
}

/** Files of the page served per second of processor time, and memory after requests. */
const loaded = async (service: Started) => {
  const files = 1000 / (await load(service, "/ui/"))
  await load(service, "/api/v2/range/all", "AD")
  await load(service, "/api/v2/range", "ME")
  return { files, memory: await rested(service) }
}

/** Starts the service, measures it once it knows all VMs, and stops it. */
const startOnce = async <A>(environment: NodeJS.ProcessEnv, look: (service: Started) => Promise<A>) => {
  const service = await startService(environment)
  const { process: child, ready, url } = service
  try {
    await expectAnswer(`${url}/readyz`)
    const ranges = JSON.parse(await expectAnswer(`${url}/api/v2/range/all`, { "x-api-key": keyOf("AD") })) as readonly {
      readonly VMs: readonly unknown[]
    }[]
    const seen = ranges.reduce((sum, { VMs }) => sum + VMs.length, 0)
    if (seen !== stockedMachines.length) throw new Error(`the service knows ${seen} VMs, not ${stockedMachines.length}`)
    return { ready, looked: await look(service) }
  } finally {
    child.kill("SIGTERM")
    await once(child, "exit")
  }
}

const measure = () =>
  withStock(async (environment) => {
    const readies: Ready[] = []
    for (let n = 0; n < starts; n++) readies.push((await startOnce(environment, () => Promise.resolve())).ready)
    // each on a new service that has done nothing else
    const { looked: quiet } = await startOnce(environment, followed)
    const { looked: busy } = await startOnce(environment, loaded)
    return { readies, quiet, busy }
  })

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const print = (what: string, measured: number, verdict = ""): void =>
  console.log(`${what.padEnd(56)}${measured.toFixed(0).padStart(8)}${verdict}`)

const line = (what: string, measured: number, goal: number): void =>
  print(what, measured, `${`<= ${goal}`.padStart(10)}  ${measured <= goal ? "reached" : "MISSED"}`)

if (import.meta.main) {
  const { readies, quiet, busy } = await measure()
  const [first, ...later] = readies
  if (first !== undefined) print("first start on a data folder, ms to ready", first.wall)
  line(`later starts, median of ${later.length}, ms to ready`, median(later.map(({ wall }) => wall)), goals.readyMillis)
  print("  of these on processors", median(later.map(({ processors }) => processors)))
  line(`MiB resident after ${idleSeconds} s without a request`, quiet.idle.now, goals.idleMebibytes)
  print("  most until then", quiet.idle.peak)
  line(`MiB that ${streams} streams of events add`, quiet.streams, goals.streamsMebibytes)
  line(`MiB resident ${idleSeconds} s after ${3 * loadSeconds} s of requests`, busy.memory.now, goals.loadedMebibytes)
  print("  most until then", busy.memory.peak)
  const verdict = `${`>= ${goals.filesEachSecond}`.padStart(10)}  ${busy.files >= goals.filesEachSecond ? "reached" : "MISSED"}`
  print("files of the page in a second of a processor", busy.files, verdict)
}
