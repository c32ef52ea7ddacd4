import { Hypervisor, monotonicMillis } from "@rangewright/ports"
import type { ObservedCluster, RunEvent } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { backoffSeconds } from "./backoff.ts"

/** Longest pause between two probes of an unreachable hypervisor: runs continue within ten seconds of its return. */
const probeBackoffMost = 10
/** Waiting steps share observations: one answer serves all requests within this time. */
const sharedForMillis = 900

/** What a step waits for: a cluster that answers and meets `isReachable`, and has quorum where that is needed. */
export interface AwaitedCluster {
  readonly isReachable: (cluster: ObservedCluster) => boolean
  readonly quorate: boolean
}

/** Watches for the return of the hypervisor. Shared by all runs. */
export interface HypervisorProbe {
  /** An observation that is at most a second old. */
  readonly observe: Hypervisor["Service"]["observe"]
  /** Returns when the cluster is as awaited. Starts with the pause that follows `tries` (from 0) attempts. */
  readonly waitUntilBack: (awaited: AwaitedCluster, tries: number) => Effect.Effect<void>
}

export const makeHypervisorProbe = Effect.gen(function* () {
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
  const isBack = ({ isReachable, quorate }: AwaitedCluster) =>
    observe.pipe(
      Effect.flatMap((cluster) => (quorate && isReachable(cluster) ? hypervisor.quorate : Effect.succeed(isReachable(cluster)))),
      Effect.orElseSucceed(() => false),
    )
  const waitUntilBack: HypervisorProbe["waitUntilBack"] = (awaited, tries) =>
    Effect.gen(function* () {
      for (let n = tries; ; n++) {
        yield* Effect.sleep(backoffSeconds(n, probeBackoffMost) * 1000)
        if (yield* isBack(awaited)) return
      }
    })
  return { observe, waitUntilBack } satisfies HypervisorProbe
})

/** A wait to be journaled: of the step `key`, or of the run itself without one. `back` is the text for when it ends. */
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
