import { type Fault, installation, type Range, type RangeId, rootUserId } from "@rangewright/domain"
import { monotonicMillis, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { updateRouters } from "../range/router-access.ts"
import { bringInLine, isAway } from "../rights/in-line.ts"
import { runningStaleRouters } from "../rights/routers.ts"
import { startingInTurn } from "../run/start-turns.ts"

/** Seconds between two comparisons: `least`, doubled with each failure after the first, up to `most`. */
const lookEverySeconds = { least: 15, most: 240 } as const
/** Seconds until the next comparison when a router only waits for a run of its range to end. */
const soonSeconds = 5

/** Seconds until the next try after so many failures in a row. */
const pauseAfter = (failures: number): number =>
  Math.min(lookEverySeconds.most, lookEverySeconds.least * 2 ** Math.max(0, failures - 1))

/** Skips this while a run changes the whole installation: a run that moves networks also moves the rights on them. */
const atRest = <A, E, R>(look: Effect.Effect<A, E, R>) =>
  Effect.flatMap(
    RunJournal.use((journal) => journal.active(installation)),
    (run): Effect.Effect<A | undefined, E, R> => (run === undefined ? look : Effect.undefined),
  )

/** Compares access on the hypervisor with what is stored, once, and repairs what differs. */
export const keepRights = atRest(Effect.asVoid(bringInLine({ doing: "reconcile access", by: rootUserId, concerns: () => true })))

/**
 * The same for routers, each independently: a router that hangs delays no other, and one that failed is retried after its own pause. True:
 * a router has to wait for a run of its range.
 */
const routerKeeper = Effect.sync(() => {
  /** `at`: when it is due again (`monotonicMillis`). */
  const tries = new Map<RangeId, { readonly failures: number; readonly at: number; readonly said: string }>()
  const underWay = new Set<RangeId>()
  const tell = (range: Range) =>
    Effect.gen(function* () {
      const { failed } = yield* updateRouters({ doing: "update the access rules of routers", by: rootUserId }, [range])
      const fault = failed[0]?.fault
      const { failures = 0, said = "" } = tries.get(range.id) ?? {}
      if (fault === undefined) return void tries.delete(range.id)
      // what is only unreachable is tried every time: revocations may wait for it
      const counted = isAway(fault) ? 0 : failures + 1
      const now = yield* monotonicMillis
      tries.set(range.id, { failures: counted, at: counted === 0 ? now : now + pauseAfter(counted) * 1000, said: fault.message })
      if (fault.message !== said)
        yield* Effect.logWarning(`the router of ${range.id} could not be updated; the service tries again: ${fault.message}`)
    })
  return atRest(
    Effect.gen(function* () {
      const { busy, ready } = yield* runningStaleRouters
      const now = yield* monotonicMillis
      const due = ready.filter(({ id }) => !underWay.has(id) && (tries.get(id)?.at ?? -Infinity) <= now)
      for (const range of due) {
        underWay.add(range.id)
        const end = Effect.sync(() => underWay.delete(range.id))
        yield* Effect.forkScoped(tell(range).pipe(Effect.ignore({ log: "Error" }), Effect.ensuring(end)))
      }
      return busy.length > 0
    }),
  )
})

/** Repeats the check forever. A failure is logged once, and retried. `what` begins the logged sentence. */
const looking = <R>(what: string, look: Effect.Effect<boolean | void, Fault, R>) =>
  Effect.suspend(() => {
    let failures = 0
    let said = ""
    const turn = look.pipe(
      Effect.matchEffect({
        onSuccess: (isSoon) => {
          failures = 0
          said = ""
          return Effect.succeed(isSoon === true ? soonSeconds : lookEverySeconds.least)
        },
        onFailure: (fault) => {
          // what is only unreachable is tried often: revocations may wait for it
          failures = isAway(fault) ? 0 : failures + 1
          const isNews = fault.message !== said
          said = fault.message
          const pause = pauseAfter(failures)
          return Effect.as(
            isNews ? Effect.logWarning(`${what} not up to date; the service tries again: ${fault.message}`) : Effect.void,
            pause,
          )
        },
      }),
      // not even a defect must end the loop: revocations wait for it
      Effect.catchDefect((defect) =>
        Effect.as(Effect.logError(`${what} not up to date; the service tries again`, defect), lookEverySeconds.most),
      ),
    )
    return Effect.forever(Effect.flatMap(turn, (seconds) => Effect.sleep(seconds * 1000)))
  })

/**
 * Compares access on the hypervisor and on routers with what is stored, at the start and from then on, and repairs it. Slow routers do not
 * delay the revocation of rights on the hypervisor.
 */
export const accessKeeperLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* Effect.forkScoped(looking("access is", keepRights))
    yield* Effect.forkScoped(startingInTurn(looking("routers are", yield* routerKeeper)))
  }),
)
