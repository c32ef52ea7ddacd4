import { Hypervisor, monotonicMillis } from "@rangewright/ports"
import type { ObservedCluster, RunEvent } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { backoffSeconds } from "./backoff.ts"

/** Most seconds between two looks at a hypervisor that is away, so that runs go on within ten seconds of its return. */
const probeBackoffMost = 10
/** Many steps that wait look once together: an answer serves all that ask within this time. */
const sharedForMillis = 900

/** What a step waits for: a cluster that answers and of which this holds, and that takes changes where that is asked for. */
export interface Awaited {
  readonly isReachable: (cluster: ObservedCluster) => boolean
  readonly quorate: boolean
}

/** Whether the hypervisor answers, and whether it can do what a step needs. Shared by all runs. */
export interface WorldGate {
  /** A fresh look, or one made in the last second. */
  readonly observe: Hypervisor["Service"]["observe"]
  /** Returns when what is awaited is there; first waits as long as `tries` (from 0) suggests. */
  readonly whenBack: (awaited: Awaited, tries: number) => Effect.Effect<void>
}

export const makeWorldGate = Effect.gen(function* () {
  const hypervisor = yield* Hypervisor
  const turn = yield* Semaphore.make(1)
  let last: { readonly at: number; readonly cluster: ObservedCluster } | undefined

  const observe = turn.withPermits(1)(
    Effect.gen(function* () {
      const now = yield* monotonicMillis
      if (last !== undefined && now - last.at < sharedForMillis) return last.cluster
      const cluster = yield* hypervisor.observe
      last = { at: now, cluster }
      return cluster
    }),
  )
  const isBack = ({ isReachable, quorate }: Awaited) =>
    observe.pipe(
      Effect.flatMap((cluster) => (quorate && isReachable(cluster) ? hypervisor.quorate : Effect.succeed(isReachable(cluster)))),
      Effect.orElseSucceed(() => false),
    )
  const whenBack: WorldGate["whenBack"] = (awaited, tries) =>
    Effect.gen(function* () {
      for (let n = tries; ; n++) {
        yield* Effect.sleep(backoffSeconds(n, probeBackoffMost) * 1000)
        if (yield* isBack(awaited)) return
      }
    })
  return { observe, whenBack } satisfies WorldGate
})

/** A wait as a journal says it: of a step, or without a `key` of the run itself. `back`: what ended it. */
export interface JournaledWait {
  readonly key?: string
  readonly reason: string
  readonly back: string
}

/** Journals Waiting before the effect, and Continued when it succeeds. */
export const makeWaiting =
  <E>(write: (event: RunEvent) => Effect.Effect<void, E>) =>
  <A, E2>({ reason, back, ...of }: JournaledWait, effect: Effect.Effect<A, E2>): Effect.Effect<A, E | E2> =>
    write({ type: "Waiting", ...of, reason }).pipe(
      Effect.andThen(effect),
      Effect.tap(() => write({ type: "Continued", ...of, reason: back })),
    )
