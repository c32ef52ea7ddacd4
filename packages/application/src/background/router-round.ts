import { isClosed, isFault, type Range, type RangeId, rangeSubject } from "@rangewright/domain"
import { GuestAutomation, Machines, Ranges, RunJournal } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { inspectRouter } from "../range/inspect-router.ts"

const tickMillis = 60_000
/** Milliseconds between two checks of one router: while its range is in testing mode, and otherwise. */
const testedMillis = 5 * 60_000
const openMillis = 60 * 60_000

/**
 * Makes rounds. Each checks routers that were not checked for a while, one after another: all those of ranges in testing mode, and one
 * other.
 */
export const makeRouterRound = () => {
  /** When a router that did not answer was last asked: others go first. */
  const tried = new Map<RangeId, number>()

  /**
   * When the router was last checked, if it is due now; else undefined. A run that has ended since may have changed its rules, by a role or
   * by reloading them: that makes it due while the range is in testing mode, and where rules were changed before.
   */
  const dueSince = Effect.fnUntraced(function* ({ id, testing }: Range) {
    const machines = yield* Machines
    const ranges = yield* Ranges
    const journal = yield* RunJournal
    const router = (yield* machines.ofRange(id)).find((machine) => machine.isRouter)
    if (router?.power !== "running") return undefined
    const kept = yield* ranges.inspection(id)
    const seen = kept?.since ?? (kept === undefined ? undefined : { rules: kept.rules, at: kept.at.getTime() })
    const last = Math.max(seen?.at ?? 0, tried.get(id) ?? 0)
    const isTested = isClosed(testing)
    if ((yield* Clock.currentTimeMillis) - last >= (isTested ? testedMillis : openMillis)) return last
    if (!isTested && seen?.rules !== "changed") return undefined
    const [run] = yield* journal.list({ subject: rangeSubject(id), limit: 1 })
    return (run?.endedAt?.getTime() ?? 0) > last ? last : undefined
  })

  return Effect.gen(function* () {
    const ranges = yield* Ranges
    const due: { readonly range: Range; readonly since: number }[] = []
    for (const range of yield* ranges.list()) {
      const since = yield* dueSince(range)
      if (since !== undefined) due.push({ range, since })
    }
    const isTested = ({ range }: { readonly range: Range }) => isClosed(range.testing)
    const longest = due.filter((one) => !isTested(one)).toSorted((a, b) => a.since - b.since)
    for (const { range } of [...due.filter(isTested), ...longest.slice(0, 1)]) {
      tried.set(range.id, yield* Clock.currentTimeMillis)
      yield* inspectRouter(`check the router of range ${range.id}`, range).pipe(
        Effect.catch((fault) => Effect.logInfo(isFault(fault) ? fault.message : fault)),
      )
    }
  })
}

/** Checks routers forever, if the service speaks to machines at all. */
export const routerRoundLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const guests = yield* GuestAutomation
    if (guests.overNetwork !== true) return
    const step = Effect.andThen(Effect.sleep(tickMillis), Effect.ignore(makeRouterRound(), { log: "Warn" }))
    yield* Effect.forkScoped(Effect.forever(step))
  }),
)
