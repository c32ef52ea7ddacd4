import { timingSafeEqual } from "node:crypto"
import type { ManualClock, SimClock } from "../core/clock.ts"
import { PveError } from "../core/errors.ts"
import { restoreState, saveState } from "../core/snapshot.ts"
import { asText } from "../core/text.ts"
import type { World } from "../core/world.ts"
import type { CallLog } from "../faults/calls.ts"
import { decodeFault } from "../faults/decode.ts"
import { parseBody, type Parameters } from "./form.ts"
import { jsonResponse, type SimRequest, type SimResponse } from "./message.ts"

/** The state that the control API works on. */
export interface Controlled {
  readonly world: World
  readonly calls: CallLog
  readonly clock: SimClock
  /** Required as `Authorization: Bearer …`. */
  readonly controlToken: string
  /** Saved states by name. */
  readonly snapshots: Map<string, string>
  readonly reset: () => void
}

const MAX_SNAPSHOTS = 10

const isManual = (clock: SimClock): clock is ManualClock => "advance" in clock

const authorise = (sim: Controlled, request: SimRequest): void => {
  const given = Buffer.from(request.headers?.["authorization"] ?? "")
  const wanted = Buffer.from(`Bearer ${sim.controlToken}`)
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    throw new PveError(401, "the control surface wants the control token as `Authorization: Bearer …`; it is printed at start")
  }
}

const stats = (sim: Controlled) => {
  const { world } = sim
  const guests = [...world.state.guests.values()]
  return {
    time: new Date(sim.clock.now()).toISOString(),
    guests: guests.length,
    running: guests.filter((guest) => guest.status === "running").length,
    tasks: { running: world.running.size, all: world.state.tasks.size },
    calls: sim.calls.counts(),
    inFlight: Object.fromEntries(world.inFlight),
    workers: Object.fromEntries(world.workers),
    trace: { hash: world.trace.hash, count: world.trace.count },
  }
}

const advance = (sim: Controlled, body: Parameters): unknown => {
  if (!isManual(sim.clock)) throw new PveError(400, "the clock runs on its own; only a manual clock can be advanced")
  const ms = Number(body["ms"])
  if (!Number.isFinite(ms) || ms < 0) throw new PveError(400, "`ms` must be a number of milliseconds, 0 or more")
  sim.clock.advance(ms)
  return { time: new Date(sim.clock.now()).toISOString(), pending: sim.clock.pending() }
}

const snapshotName = (body: Parameters): string => {
  const name = asText(body["name"])
  if (!/^[\w-]{1,64}$/.test(name)) throw new PveError(400, "`name` must be 1 to 64 letters, digits, hyphens or underscores")
  return name
}

const save = (sim: Controlled, body: Parameters): unknown => {
  const name = snapshotName(body)
  if (!sim.snapshots.has(name) && sim.snapshots.size >= MAX_SNAPSHOTS)
    throw new PveError(400, `there are ${MAX_SNAPSHOTS} snapshots already`)
  const text = saveState(sim.world)
  sim.snapshots.set(name, text)
  return { name, bytes: text.length }
}

const restore = (sim: Controlled, body: Parameters): unknown => {
  const name = snapshotName(body)
  const text = sim.snapshots.get(name)
  if (text === undefined) throw new PveError(404, `there is no snapshot '${name}'`)
  restoreState(sim.world, text)
  return { name }
}

const removeFault = (sim: Controlled, id: string): unknown => {
  if (!sim.world.faults.remove(Number(id))) throw new PveError(404, `there is no fault ${id}`)
  return null
}

const perform = (sim: Controlled, method: string, path: string, body: Parameters): unknown => {
  const { faults } = sim.world
  const fault = /^\/simulator\/faults\/(\d+)$/.exec(path)?.[1]
  if (fault !== undefined && method === "DELETE") return removeFault(sim, fault)
  switch (`${method} ${path}`) {
    case "GET /simulator/faults":
      return faults.list()
    case "POST /simulator/faults":
      return { id: faults.add(decodeFault({ ...body })) }
    case "DELETE /simulator/faults":
      return (faults.clear(), null)
    case "GET /simulator/stats":
      return stats(sim)
    case "GET /simulator/screens":
      return [...sim.world.pictures].map(([vmid, { typed, closers }]) => ({ vmid, viewers: closers.size, typed }))
    case "GET /simulator/calls":
      return sim.calls.recent()
    case "DELETE /simulator/calls":
      return (sim.calls.clear(), null)
    case "GET /simulator/trace":
      return sim.world.trace.recent
    case "POST /simulator/clock":
      return advance(sim, body)
    case "POST /simulator/snapshot":
      return save(sim, body)
    case "POST /simulator/restore":
      return restore(sim, body)
    case "POST /simulator/reset":
      return (sim.reset(), null)
    default:
      throw new PveError(404, `the control surface has no '${method} ${path}'`)
  }
}

/** Answers a request to `/simulator/…`: JSON in, JSON out, `{"data": …}` or `{"error": …}`. */
export const control = (sim: Controlled, request: SimRequest): SimResponse => {
  const now = sim.clock.now()
  try {
    authorise(sim, request)
    const [path = ""] = request.path.split("?")
    const body = request.body === undefined ? {} : parseBody("application/json", request.body)
    return jsonResponse(now, 200, "", { data: perform(sim, request.method, path, body) ?? null })
  } catch (error) {
    const failure = error instanceof PveError ? error : new PveError(500, String(error))
    return jsonResponse(now, failure.status, "", { error: failure.message.trim() })
  }
}
