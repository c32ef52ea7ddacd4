import { createManualClock, createSimulator, type SimulatorOptions, type Simulator } from "../../src/index.ts"
import { passing } from "./client.ts"
import { readReferenceJson } from "./reference.ts"

interface Exchange {
  readonly n: number
  readonly request: {
    readonly method: string
    readonly path: string
    readonly query: string
    readonly headers: Record<string, string>
    readonly body: string
  }
  readonly response: { readonly status: number; readonly reason: string; readonly body_raw: string }
}

/** One point in which the simulator's answer differs from the recorded one. */
export interface Difference {
  readonly n: number
  readonly call: string
  readonly recorded: string
  readonly simulated: string
}

const upidShape = /UPID:([^:\s]+):[0-9A-F]{8}:[0-9A-F]{8}:[0-9A-F]{8}:([^:]*):([^:]*):([^:]*):/g
const wireUpid = /UPID(?::|%3A)[^\s"/]+?(?::|%3A)(?=["/]|$)/g

/** Values that two servers cannot share: identifiers, times, digests, addresses of network cards, token names. */
const masked = (text: string): string =>
  text
    .replaceAll(upidShape, "UPID:$1:$2:$3:")
    .replaceAll(/\b[0-9a-f]{40}\b/g, "DIGEST")
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "UUID")
    .replaceAll(/BC:24:11(:[0-9A-F]{2}){3}/g, "MAC")
    .replaceAll(/creation-qemu=[\d.]+,ctime=\d+/g, "META")

/** Members whose value depends on the machine or the time. */
const volatile = new Set([
  "pid",
  "pstart",
  "starttime",
  "endtime",
  "snaptime",
  "ctime",
  "tokenid",
  "used",
  "total",
  "avail",
  "ticket",
  "cert",
  "password",
  "user",
])

const canonical = (value: unknown, key = ""): unknown => {
  if (volatile.has(key) && value !== null) return `<${key}>`
  // The same member may be a number or a string, depending on how the server read it.
  if (key === "saved") return String(value)
  if (key === "content" && typeof value === "string") return value.split(",").toSorted().join(",")
  if (typeof value === "string") return masked(value)
  if (Array.isArray(value)) {
    const items = value.map((item) => canonical(item))
    return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  }
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, inner]) => [name, canonical(inner, name)]))
}

const comparable = (status: number, body: string): string => {
  try {
    const { total: _, ...rest } = JSON.parse(body) as Record<string, unknown>
    return `${status} ${JSON.stringify(canonical(rest))}`
  } catch {
    return `${status} ${body}`
  }
}

/**
 * Sends the requests of a recording to a simulator, a tenth of a second apart, and lists where its answers differ. UPIDs and lock
 * tokens of the recording are replaced by those that the simulator gave; `prepare` runs before the exchange of its number.
 */
export const replay = async (
  file: string,
  options: SimulatorOptions,
  prepare: Readonly<Record<number, (sim: Simulator) => void>>,
): Promise<{ readonly exchanges: number; readonly differences: readonly Difference[] }> => {
  const exchanges = readReferenceJson<readonly Exchange[]>(`fixtures/recorded/${file}`)
  const clock = createManualClock()
  const sim = createSimulator({ ...options, clock })
  const learned = new Map<string, string>()
  const translate = (text: string): string => {
    let out = text.replaceAll(wireUpid, (upid) => {
      const known = learned.get(decodeURIComponent(upid))
      return known === undefined ? upid : encodeURIComponent(known)
    })
    for (const [theirs, ours] of learned) if (!theirs.startsWith("UPID:")) out = out.replaceAll(theirs, ours)
    return out
  }
  const differences: Difference[] = []
  for (const { n, request, response } of exchanges) {
    prepare[n]?.(sim)
    const path = translate(request.path) + (request.query === "" ? "" : `?${translate(request.query)}`)
    const answer = await passing(
      clock,
      sim.handle({
        method: request.method,
        path,
        headers: {
          authorization: `PVEAPIToken=${sim.rootToken}`,
          ...(request.body === "" ? {} : { "content-type": "application/x-www-form-urlencoded" }),
        },
        ...(request.body === "" ? {} : { body: translate(request.body) }),
      }),
    )
    learn(learned, response.body_raw, answer.body)
    clock.advance(100)
    const recorded = comparable(response.status, response.body_raw)
    const simulated = comparable(answer.status, answer.body)
    if (recorded !== simulated) {
      const call = `${request.method} ${decodeURIComponent(request.path).replace("/api2/json", "")}${request.query === "" ? "" : `?${request.query}`}`
      differences.push({ n, call, recorded, simulated })
    }
  }
  return { exchanges: exchanges.length, differences }
}

interface Task {
  readonly upid?: string
  readonly type?: string
  readonly status?: string
}

/** Tasks that the server started by itself are known from lists: the same kind with the same end is the same task. */
const learnTasks = (learned: Map<string, string>, theirs: readonly Task[], ours: readonly Task[]): void => {
  for (const task of theirs) {
    if (task.upid === undefined || learned.has(task.upid)) continue
    const same = ours.find(
      (each) =>
        each.type === task.type &&
        each.status === task.status &&
        each.upid !== undefined &&
        ![...learned.values()].includes(each.upid),
    )
    if (same?.upid !== undefined) learned.set(task.upid, same.upid)
  }
}

const learn = (learned: Map<string, string>, recorded: string, simulated: string): void => {
  try {
    const theirs = (JSON.parse(recorded) as { data?: unknown }).data
    const ours = (JSON.parse(simulated) as { data?: unknown }).data
    const text = typeof theirs === "string" && (theirs.startsWith("UPID:") || /^[0-9a-f-]{36}$/.test(theirs))
    if (text && typeof ours === "string") learned.set(theirs, ours)
    if (Array.isArray(theirs) && Array.isArray(ours)) learnTasks(learned, theirs as Task[], ours as Task[])
  } catch {
    // A body that is not JSON has nothing to learn from.
  }
}
