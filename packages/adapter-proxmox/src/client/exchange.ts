import { monotonicMillis } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { asTransportFailure, type PveAnswer, type PveRequest, type PveTransport, TransportFailure } from "./transport.ts"

/** `slow` calls may hold a worker of the node for seconds (the guest agent's); `quick` ones read, write a file, or only start a task. */
export type Pace = "quick" | "slow"

export interface Limits {
  /** Slow calls in flight per node; a node has 3 workers, and its own interface needs one. */
  readonly slowPerNode: number
  readonly quickPerNode: number
}

/** An answer, the endpoint that gave it, and when (milliseconds of the monotonic clock). */
export interface Answered extends PveAnswer {
  readonly endpoint: number
  readonly at: number
}

export interface Exchange {
  /** `before` runs each time that the request is about to be sent, after it has waited in line. */
  readonly send: (request: PveRequest, pace: Pace, before?: Effect.Effect<void>) => Effect.Effect<Answered, TransportFailure>
  /** Marks an endpoint as unable to do its work: the next requests go to another one. False when no better one is known. */
  readonly deprioritise: (answer: Answered) => boolean
  /** How an endpoint opens web sockets; undefined when it cannot. */
  readonly socket: (endpoint: number) => PveTransport["socket"]
}

/** How long an endpoint that failed or was deprioritised is tried last: one that hangs costs seconds each time. */
const coolingMs = 60_000

/** The node that handles a path: the one it names, else the one that receives the request. */
const nodeOf = (path: string): string => /^\/api2\/json\/nodes\/([^/?]+)/u.exec(path)?.[1] ?? ""

/**
 * Sends requests within the limits per node. With several endpoints it stays with one while that is reachable and not deprioritised; a
 * request that was certainly not delivered goes to the next. Fails when none could be reached, or with the first failure after a delivery.
 */
export const makeExchange = (endpoints: readonly PveTransport[], limits: Limits): Exchange => {
  let preferred = 0
  const coolingUntil = endpoints.map(() => Number.NEGATIVE_INFINITY)
  const isCooling = (index: number, now: number): boolean => (coolingUntil[index] ?? 0) > now
  /** The order in which endpoints are tried: the preferred one and those after it, then those cooling down. */
  const order = (now: number): readonly number[] => {
    const all = endpoints.map((_, at) => (preferred + at) % endpoints.length)
    return [...all.filter((index) => !isCooling(index, now)), ...all.filter((index) => isCooling(index, now))]
  }
  const lanes = new Map<string, Semaphore.Semaphore>()
  const lane = (pace: Pace, node: string): Semaphore.Semaphore => {
    const key = `${pace} ${node}`
    const known = lanes.get(key)
    if (known !== undefined) return known
    const made = Semaphore.makeUnsafe(pace === "slow" ? limits.slowPerNode : limits.quickPerNode)
    lanes.set(key, made)
    return made
  }
  const via = (index: number, request: PveRequest) =>
    Effect.tryPromise({ try: (signal) => endpoints[index]!.send(request, signal), catch: (error) => asTransportFailure(error) })
  /** Of many requests that fail on one endpoint, only the first switches away from it. */
  const failOver = (index: number, now: number): void => {
    coolingUntil[index] = now + coolingMs
    if (preferred === index) preferred = order(now).find((other) => other !== index) ?? index
  }
  const send = Effect.fnUntraced(function* (
    request: PveRequest,
    before: Effect.Effect<void>,
  ): Effect.fn.Return<Answered, TransportFailure> {
    let failure: TransportFailure | undefined
    for (const index of order(yield* monotonicMillis)) {
      yield* before
      const outcome = yield* Effect.result(via(index, request))
      const at = yield* monotonicMillis
      if (outcome._tag === "Success") return { ...outcome.success, endpoint: index, at }
      failure = outcome.failure
      failOver(index, at)
      if (failure.delivered) break
    }
    return yield* Effect.fail(failure ?? new TransportFailure("there is no endpoint", false))
  })
  return {
    socket: (endpoint) => endpoints[endpoint]?.socket,
    send: (request, pace, before = Effect.void) => lane(pace, nodeOf(request.path)).withPermit(send(request, before)),
    deprioritise: ({ endpoint, at }) => {
      const isBetterKnown = endpoints.some((_, index) => index !== endpoint && !isCooling(index, at))
      if (isBetterKnown) failOver(endpoint, at)
      return isBetterKnown
    },
  }
}
