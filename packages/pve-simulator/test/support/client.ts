import { expect } from "vitest"
import {
  createManualClock,
  createSimulator,
  type ManualClock,
  type SimResponse,
  type Simulator,
  type SimulatorOptions,
} from "../../src/index.ts"
import { type Answer, checkAnswer } from "./answers.ts"

export type { Answer } from "./answers.ts"

export interface Lab {
  readonly sim: Simulator
  readonly clock: ManualClock
  /** Sends a request with root's token, or with `token`; advances time until it is answered. Every answer is checked against the schema. */
  readonly call: (method: string, path: string, parameters?: Readonly<Record<string, unknown>>, as?: As) => Promise<Answer>
  /** The same for a call that must succeed; returns its data. */
  readonly ok: (method: string, path: string, parameters?: Readonly<Record<string, unknown>>, as?: As) => Promise<unknown>
  /** Makes a call that starts a task, advances time until it ends, and returns how it ended. */
  readonly task: (method: string, path: string, parameters?: Readonly<Record<string, unknown>>) => Promise<string>
  /** Advances time until a task ends. */
  readonly settle: (upid: string) => Promise<string>
}

export type As = { readonly token: string } | { readonly ticket: string; readonly csrf?: string } | "nobody"

const headersOf = (as: As): Record<string, string> => {
  if (as === "nobody") return {}
  if ("token" in as) return { authorization: `PVEAPIToken=${as.token}` }
  return {
    cookie: `PVEAuthCookie=${encodeURIComponent(as.ticket)}`,
    ...(as.csrf === undefined ? {} : { csrfpreventiontoken: as.csrf }),
  }
}

const readAnswer = (response: SimResponse): Answer => {
  const parsed: unknown =
    response.headers["content-type"]?.startsWith("application/json") === true ? JSON.parse(response.body) : {}
  const json = (parsed ?? {}) as Record<string, unknown>
  return {
    status: response.status,
    reason: response.reason,
    data: json["data"],
    message: json["message"] as string | undefined,
    errors: json["errors"] as Record<string, string> | undefined,
    body: response.body,
    json,
  }
}

/** A promise's value, advancing simulated time while it waits. */
export const passing = async <A>(clock: ManualClock, promise: Promise<A>): Promise<A> => {
  let done = false
  const watched = promise.finally(() => (done = true))
  watched.catch(() => undefined)
  await Promise.resolve()
  for (let turns = 0; !done && turns < 10_000; turns += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    if (!done && !clock.advanceToNext()) await new Promise((resolve) => setImmediate(resolve))
  }
  return await watched
}

/** A simulator on a manual clock with a client that advances time. */
export const createLab = (options: SimulatorOptions = {}): Lab => {
  const clock = createManualClock()
  const sim = createSimulator({ ...options, clock })
  const call: Lab["call"] = async (method, path, parameters, as = { token: sim.rootToken }) => {
    const inQuery = method === "GET" || method === "DELETE"
    const query =
      inQuery && parameters !== undefined
        ? `?${new URLSearchParams(Object.entries(parameters).map(([k, v]): [string, string] => [k, String(v)])).toString()}`
        : ""
    const response = await passing(
      clock,
      sim.handle({
        method,
        path: `/api2/json${path}${query}`,
        headers: { ...headersOf(as), ...(inQuery || parameters === undefined ? {} : { "content-type": "application/json" }) },
        ...(inQuery || parameters === undefined ? {} : { body: JSON.stringify(parameters) }),
      }),
    )
    const answer = readAnswer(response)
    checkAnswer(method, path, answer)
    return answer
  }
  const ok: Lab["ok"] = async (method, path, parameters, as) => {
    const answer = await call(method, path, parameters, as)
    expect(answer, `${method} ${path}`).toMatchObject({ status: 200 })
    return answer.data
  }
  const settle: Lab["settle"] = async (upid) => {
    const node = upid.split(":")[1]
    for (let turns = 0; turns < 10_000; turns += 1) {
      const status = (await ok("GET", `/nodes/${node}/tasks/${upid}/status`)) as { status: string; exitstatus?: string }
      if (status.status === "stopped") return status.exitstatus ?? ""
      const stuck = !clock.advanceToNext() && sim.state.tasks.get(upid)?.exitstatus === undefined
      if (stuck) throw new Error(`task ${upid} runs and nothing is scheduled`)
    }
    throw new Error(`task ${upid} does not end`)
  }
  const task: Lab["task"] = async (method, path, parameters) => await settle(String(await ok(method, path, parameters)))
  return { sim, clock, call, ok, task, settle }
}
