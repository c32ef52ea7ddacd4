import { Hypervisor } from "@rangewright/ports"
import type { ObservedCluster, RunEvent } from "@rangewright/domain"
import * as Clock from "effect/Clock"
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
      const now = yield* Clock.currentTimeMillis
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

/** Says in a run's journal that it waits, while any of its steps does: the `reason` of the first, and what is `back` of the last. */
export const makeWaiting = <E>(write: (event: RunEvent) => Effect.Effect<void, E>) => {
  let waiting = 0
  return <A, E2>(
    { reason, back }: { readonly reason: string; readonly back: string },
    effect: Effect.Effect<A, E2>,
  ): Effect.Effect<A, E | E2> =>
    Effect.suspend(() => {
      waiting += 1
      return waiting === 1 ? write({ type: "Waiting", reason }) : Effect.void
    }).pipe(
      Effect.andThen(effect),
      Effect.tap(() => (waiting === 1 ? write({ type: "Continued", reason: back }) : Effect.void)),
      Effect.ensuring(Effect.sync(() => (waiting -= 1))),
    )
}
