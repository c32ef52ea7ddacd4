import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { asTransportFailure, type PveAnswer, type PveRequest, type PveTransport, type TransportFailure } from "./transport.ts"

/** `slow` calls may hold a worker of the node for seconds (the guest agent's); `quick` ones read, write a file, or only start a task. */
export type Pace = "quick" | "slow"

export interface Limits {
  /** Slow calls in flight per node; a node has 3 workers (facts c19), and its own interface needs one. */
  readonly slowPerNode: number
  readonly quickPerNode: number
}

/** An answer, and which endpoint gave it. */
export interface Answered extends PveAnswer {
  readonly endpoint: number
}

export interface Exchange {
  readonly send: (request: PveRequest, pace: Pace) => Effect.Effect<Answered, TransportFailure>
  /** What came is no answer of a node that can do its work: the next requests go to another endpoint. False when there is no other. */
  readonly avoid: (answer: Answered) => boolean
}

/** The node a path is worked on: the one it names, else the one that is asked. */
const nodeOf = (path: string): string => /^\/api2\/json\/nodes\/([^/?]+)/u.exec(path)?.[1] ?? ""

/**
 * Sends requests within the limits per node. With several endpoints it stays with one while it can be reached and is not to be avoided; a
 * request that was certainly not delivered goes to the next. Fails when none could be reached, or with the first failure after a delivery.
 */
export const makeExchange = (endpoints: readonly PveTransport[], limits: Limits): Exchange => {
  let preferred = 0
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
    Effect.tryPromise({ try: (signal) => endpoints[index]!.send(request, signal), catch: asTransportFailure })
  /** Of many requests that fail on one endpoint only the first turns away from it. */
  const turnFrom = (index: number): void => {
    if (preferred === index) preferred = (index + 1) % endpoints.length
  }
  const send = Effect.fnUntraced(function* (request: PveRequest): Effect.fn.Return<Answered, TransportFailure> {
    const start = preferred
    for (let tried = 1; ; tried += 1) {
      const index = (start + tried - 1) % endpoints.length
      const outcome = yield* Effect.result(via(index, request))
      if (outcome._tag === "Success") return { ...outcome.success, endpoint: index }
      turnFrom(index)
      if (outcome.failure.delivered || tried >= endpoints.length) return yield* Effect.fail(outcome.failure)
    }
  })
  return {
    send: (request, pace) => lane(pace, nodeOf(request.path)).withPermit(send(request)),
    avoid: ({ endpoint }) => {
      turnFrom(endpoint)
      return endpoints.length > 1
    },
  }
}
