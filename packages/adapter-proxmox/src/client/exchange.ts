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

export type Exchange = (request: PveRequest, pace: Pace) => Effect.Effect<PveAnswer, TransportFailure>

/** The node a path is worked on: the one it names, else the one that is asked. */
const nodeOf = (path: string): string => /^\/api2\/json\/nodes\/([^/?]+)/u.exec(path)?.[1] ?? ""

/**
 * Sends requests within the limits per node. With several endpoints it stays with one while it can be reached; a request that was certainly
 * not delivered goes to the next. Fails when none could be reached, or with the first failure after a delivery.
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
  const send = Effect.fnUntraced(function* (request: PveRequest): Effect.fn.Return<PveAnswer, TransportFailure> {
    const start = preferred
    for (let tried = 1; ; tried += 1) {
      const index = (start + tried - 1) % endpoints.length
      const outcome = yield* Effect.result(via(index, request))
      if (outcome._tag === "Success") {
        preferred = index
        return outcome.success
      }
      if (outcome.failure.delivered || tried >= endpoints.length) {
        preferred = (index + 1) % endpoints.length
        return yield* Effect.fail(outcome.failure)
      }
    }
  })
  return (request, pace) => lane(pace, nodeOf(request.path)).withPermit(send(request))
}
