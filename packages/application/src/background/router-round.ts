import { isClosed, isFault, type Range, type RangeId, rangeSubject, type RunId } from "@rangewright/domain"
import { GuestAutomation, Machines, monotonicMillis, Ranges, RunJournal, type StorageFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { inspectRouter } from "../range/inspect-router.ts"

const tickMillis = 60_000
/** Milliseconds between two checks of one router: while its range is in testing mode, and otherwise. */
const testedMillis = 5 * 60_000
const openMillis = 60 * 60_000

type Needs = Machines | Ranges | RunJournal

/** A router to check: it was not checked for `age` milliseconds, or the run `after` ended since. */
interface Due {
  readonly range: Range
  readonly age: number
  readonly after: RunId | undefined
}

/**
 * Makes rounds. Each checks routers that were not checked for a while, one after another: all those of ranges in testing mode, and one
 * other.
 */
export const makeRouterRound = () => {
  /**
   * When each router was last asked, whether it answered or not (`monotonicMillis`), and the ended run that was the reason. Others go first
   * when one does not answer.
   */
  const tried = new Map<RangeId, { readonly at: number; readonly after: RunId | undefined }>()

  /**
   * For how long the router was not checked, if it is due now; else undefined. A run that has ended since may have changed its rules, by a
   * role or by reloading them: that makes it due while the range is in testing mode, and where rules were changed before.
   */
  const dueAfter = Effect.fnUntraced(function* (range: Range): Effect.fn.Return<Due | undefined, StorageFault, Needs> {
    const { id, testing } = range
    const machines = yield* Machines
    const ranges = yield* Ranges
    const journal = yield* RunJournal
    const router = (yield* machines.ofRange(id)).find((machine) => machine.isRouter)
    if (router?.power !== "running") return undefined
    const kept = yield* ranges.inspection(id)
    const seen = kept?.since ?? (kept === undefined ? undefined : { rules: kept.rules, at: kept.at.getTime() })
    const before = tried.get(id)
    const seenAgo = seen === undefined ? Infinity : (yield* Clock.currentTimeMillis) - seen.at
    const triedAgo = before === undefined ? Infinity : (yield* monotonicMillis) - before.at
    // the clock was set back since: nothing says how long ago that was
    const age = Math.min(triedAgo, seenAgo < 0 ? Infinity : seenAgo)
    const isTested = isClosed(testing)
    if (age >= (isTested ? testedMillis : openMillis)) return { range, age, after: before?.after }
    if (!isTested && seen?.rules !== "changed") return undefined
    const [run] = yield* journal.list({ subject: rangeSubject(id), limit: 1 })
    if (run?.endedAt === undefined || run.id === before?.after) return undefined
    const endedAgo = (yield* Clock.currentTimeMillis) - run.endedAt.getTime()
    return endedAgo < age ? { range, age, after: run.id } : undefined
  })

  return Effect.gen(function* () {
    const ranges = yield* Ranges
    const due: Due[] = []
    for (const range of yield* ranges.list()) {
      const one = yield* dueAfter(range)
      if (one !== undefined) due.push(one)
    }
    const isTested = ({ range }: Due) => isClosed(range.testing)
    const longest = due.filter((one) => !isTested(one)).toSorted((a, b) => (a.age === b.age ? 0 : b.age - a.age))
    for (const { range, after } of [...due.filter(isTested), ...longest.slice(0, 1)]) {
      tried.set(range.id, { at: yield* monotonicMillis, after })
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
    const step = Effect.andThen(Effect.sleep(tickMillis), Effect.ignoreCause(makeRouterRound(), { log: "Warn" }))
    yield* Effect.forkScoped(Effect.forever(step))
  }),
)
