import { HypervisorFault, LeaseCheck, monotonicMillis } from "@rangewright/ports"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { classifyAnswer, type Patience, type Verdict } from "./classify.ts"
import type { Credentials } from "./credentials.ts"
import type { Answered, Exchange, Pace } from "./exchange.ts"
import { encodeForm, type Params } from "./form.ts"
import { readReply, refusalText, type Reply as ReadReply } from "./reply.ts"
import type { OpenSocket, PveMethod } from "./transport.ts"

/** What a call is for, and how it may be handled. */
export interface Call {
  /** Completes "Cannot …": `clone VM 20001`. */
  readonly doing: string
  readonly pace?: Pace
  /** A POST that changes nothing: it may be retried like a read. */
  readonly harmless?: boolean
}

/** `fromGuest`: the answer is what a program in a guest says. */
type Sent = Call & { readonly fromGuest?: boolean }

/** Longest answer of a guest's agent: the addresses of thousands of interfaces. Parsing takes a quarter of a second at most. */
const maxGuestBytes = 2 * 1024 * 1024

/** The VM is off or its agent does not answer. */
export class GuestSilent extends Data.TaggedError("GuestSilent")<{ readonly detail: string; readonly off: boolean }> {}

/** An answer, with the endpoint that gave it: a port that it opened exists there only. */
export interface Reply extends ReadReply {
  readonly endpoint: number
}

type Ask<E> = (path: string, params: Params, call: Call) => Effect.Effect<Reply, E>

/**
 * Calls of the API. Reads are retried with back-off; a changing call is retried only when it certainly had no effect, and fails with
 * `unknown-effect` when its answer was lost.
 */
export interface PveClient {
  readonly get: Ask<HypervisorFault>
  readonly post: Ask<HypervisorFault>
  readonly put: Ask<HypervisorFault>
  /** Parameters go in the query: a body on DELETE is refused. */
  readonly remove: Ask<HypervisorFault>
  /** Calls of a VM's guest agent: always slow, and their faults tell a silent guest from an unreachable hypervisor. */
  readonly guest: {
    readonly get: Ask<HypervisorFault | GuestSilent>
    readonly post: Ask<HypervisorFault | GuestSilent>
  }
  /** Returns a function that opens a web socket at an endpoint, under the account used for calls. */
  readonly socket: (endpoint: number, path: string, params: Params, call: Call) => Effect.Effect<OpenSocket, HypervisorFault>
}

/** One request and its result: `ok`, or what its failure means. */
export interface MeasuredCall {
  readonly method: PveMethod
  readonly result: "ok" | Verdict
  readonly seconds: number
}

export interface ClientOptions {
  /** Longest wait for one answer. A node gives up on another node after 30 s. */
  readonly timeoutSeconds: number
  /** How often a request is sent in total when its answers are lost; twice as often when it is refused at once for a temporary reason. */
  readonly attempts: number
  /** Called after each request that was sent. */
  readonly measured?: ((call: MeasuredCall) => void) | undefined
}

/** Result of sending a request once. `again`: it certainly had no effect, or is a read. */
type Outcome =
  | { readonly type: "reply"; readonly reply: Reply }
  | ({ readonly type: "fault" } & Missed)
  | { readonly type: "refused" }

interface Missed {
  readonly fault: HypervisorFault | GuestSilent
  readonly again: Patience
}

const resultOf = (outcome: Outcome): MeasuredCall["result"] => {
  if (outcome.type === "reply") return "ok"
  if (outcome.type === "refused") return "unauthenticated"
  if (outcome.fault instanceof GuestSilent) return outcome.fault.off ? "guest-off" : "silent-guest"
  return outcome.fault.facts.reason
}

/** Six tries spread over eight seconds, which is enough for a node's cluster file system to restart. */
const growingPauses = Schedule.exponential("250 millis").pipe(Schedule.jittered, Schedule.setInputType<Missed>())

/**
 * The endpoint itself is at fault: it has no quorum, or its gateway does not reach the API. Failing to reach another node says nothing
 * about the endpoint.
 */
const isOfEndpoint = (status: number, verdict: Verdict): boolean => verdict === "no-quorum" || [502, 503, 504].includes(status)

/** The answer's message; for an unreachable node it only says how it is unreachable, so the node is named. */
const detailOf = (status: number, words: string, path: string): string => {
  const node = /^\/nodes\/([^/]+)/u.exec(path)?.[1]
  if (status === 595 && node !== undefined)
    return `node ${decodeURIComponent(node)} cannot be reached${words === "" ? "" : ` (${words})`}`
  return words === "" ? `Proxmox answered ${status}` : words
}

export const makeClient = (exchange: Exchange, credentials: Credentials, options: ClientOptions): PveClient => {
  const judge = (answer: Answered, method: PveMethod, path: string, call: Sent): Outcome => {
    const mutating = method !== "GET" && call.harmless !== true
    const fault = (
      reason: HypervisorFault["facts"]["reason"],
      detail: string,
      hint: string | undefined,
      again: Patience,
    ): Outcome => ({
      type: "fault",
      fault: new HypervisorFault({ doing: call.doing, reason, detail, ...(hint === undefined ? {} : { hint }) }),
      again,
    })
    if (answer.status >= 200 && answer.status < 300) {
      if (call.fromGuest === true && answer.body.length > maxGuestBytes) {
        const detail = `its agent's answer has ${answer.body.length} bytes, and only up to ${maxGuestBytes} are read`
        return { type: "fault", fault: new GuestSilent({ detail, off: false }), again: "none" }
      }
      const read = readReply(answer.body)
      if (read._tag === "Success") return { type: "reply", reply: { ...read.success, endpoint: answer.endpoint } }
      exchange.deprioritise(answer)
      return fault(mutating ? "unknown-effect" : "away", read.failure, undefined, mutating ? "none" : "short")
    }
    if (answer.status === 401) return { type: "refused" }
    const words = refusalText(answer.statusText, answer.body)
    const { verdict, hint, again } = classifyAnswer({ status: answer.status, text: words, call: `${method} ${path}`, mutating })
    const detail = detailOf(answer.status, words, path)
    if (verdict === "guest-off" || verdict === "silent-guest")
      return { type: "fault", fault: new GuestSilent({ detail, off: verdict === "guest-off" }), again: "none" }
    // a node cut off from the cluster refuses what another one accepts
    if (isOfEndpoint(answer.status, verdict)) exchange.deprioritise(answer)
    return fault(verdict, detail, hint, again)
  }

  const once = Effect.fnUntraced(function* (
    method: PveMethod,
    path: string,
    params: Params,
    call: Sent,
    authorization: Readonly<Record<string, string>>,
  ): Effect.fn.Return<Outcome> {
    const form = encodeForm(params)
    const inBody = method === "POST" || method === "PUT"
    const mutating = method !== "GET" && call.harmless !== true
    const sent = yield* Effect.result(
      exchange.send(
        {
          method,
          path: `/api2/json${path}${inBody || form === "" ? "" : `?${form}`}`,
          headers: inBody ? { ...authorization, "content-type": "application/x-www-form-urlencoded" } : authorization,
          body: inBody ? form : undefined,
          timeoutMs: options.timeoutSeconds * 1000,
        },
        call.pace ?? "quick",
        mutating ? Effect.flatten(LeaseCheck) : Effect.void,
      ),
    )
    if (sent._tag === "Success") return judge(sent.success, method, path, call)
    const { delivered, message, hint } = sent.failure
    const reason = delivered && mutating ? "unknown-effect" : "away"
    return {
      type: "fault",
      fault: new HypervisorFault({ doing: call.doing, reason, detail: message, ...(hint === undefined ? {} : { hint }) }),
      again: reason === "away" ? "short" : "none",
    }
  })

  const notLoggedIn = (fault: HypervisorFault): Missed => ({ fault, again: fault.facts.reason === "away" ? "short" : "none" })

  /** Sends the request, and a second time when the login had to be renewed. */
  const attempt = Effect.fnUntraced(function* (
    method: PveMethod,
    path: string,
    params: Params,
    call: Sent,
  ): Effect.fn.Return<Reply, Missed> {
    for (let renewed = false; ; renewed = true) {
      const authorization = yield* Effect.mapError(credentials.headers(method), notLoggedIn)
      const began = yield* monotonicMillis
      const outcome = yield* once(method, path, params, call, authorization)
      options.measured?.({ method, result: resultOf(outcome), seconds: ((yield* monotonicMillis) - began) / 1000 })
      if (outcome.type === "reply") return outcome.reply
      if (outcome.type === "fault") return yield* Effect.fail(outcome)
      if (!renewed && (yield* Effect.mapError(credentials.renew(authorization), notLoggedIn))) continue
      const { hint } = classifyAnswer({ status: 401, text: "", call: path, mutating: false })
      const detail = "Proxmox refused the service's credentials"
      const reason = "unauthenticated"
      const fault = new HypervisorFault({ doing: call.doing, reason, detail, ...(hint === undefined ? {} : { hint }) })
      return yield* Effect.fail<Missed>({ fault, again: "none" })
    }
  })

  const triesAtMost: Readonly<Record<Patience, number>> = { none: 1, short: options.attempts, long: 2 * options.attempts }
  const schedule = growingPauses.pipe(Schedule.while(({ input, attempt: sent }) => sent < triesAtMost[input.again]))
  const request = (method: PveMethod, path: string, params: Params, call: Sent) =>
    attempt(method, path, params, call).pipe(
      Effect.retry(schedule),
      Effect.mapError(({ fault }) => fault),
    )

  const ask =
    (method: PveMethod): Ask<HypervisorFault> =>
    (path, params, call) =>
      request(method, path, params, call).pipe(
        Effect.catchTag("GuestSilent", ({ detail }) =>
          Effect.fail(new HypervisorFault({ doing: call.doing, reason: "failed", detail })),
        ),
      )
  return {
    get: ask("GET"),
    post: ask("POST"),
    put: ask("PUT"),
    remove: ask("DELETE"),
    guest: {
      get: (path, params, call) => request("GET", path, params, { ...call, pace: "slow", fromGuest: true }),
      post: (path, params, call) => request("POST", path, params, { ...call, pace: "slow", fromGuest: true }),
    },
    socket: (endpoint, path, params, { doing }) =>
      Effect.gen(function* () {
        const open = exchange.socket(endpoint)
        if (open === undefined)
          return yield* new HypervisorFault({
            doing,
            reason: "failed",
            detail: "this connection to the hypervisor does not support web sockets",
          })
        const headers = yield* credentials.headers("GET")
        return () => open(`/api2/json${path}?${encodeForm(params)}`, headers)
      }),
  }
}
