import {
  Failed,
  type Fault,
  howTo,
  type Range,
  RangeBusy,
  type RangeId,
  rangeSubject,
  type RunHead,
  type UserId,
} from "@rangewright/domain"
import { AccessRecords, beingTold, Machines, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { anyEndOfRun, type RunEngine } from "@rangewright/run-engine"
import { rangeKinds } from "../run/range-kinds.ts"
import { forAllAtOnce } from "../run/start-turns.ts"
import { routerAway } from "./router-away.ts"
import { runToEnd } from "./run-to-end.ts"

/**
 * Whether the range has a router to update: one that was never deployed gets its rules with the first deploy. Fails when the router exists
 * and is off.
 */
const routerToTell = (doing: string, range: Range): Effect.Effect<boolean, Fault, Machines> =>
  Effect.gen(function* () {
    const machines = yield* Machines
    const router = (yield* machines.ofRange(range.id)).find((machine) => machine.isRouter)
    if (router === undefined) return false
    if (router.power !== "running") return yield* routerAway(doing, range, router.name ?? `VM ${router.vmid}`, router.power)
    return true
  })

const updating = { kind: "access" } as const

/** The fault for a range that this run is changing. */
export const busyWith = ({ id }: Range, run: Pick<RunHead, "id" | "kind">): RangeBusy =>
  new RangeBusy({ rangeId: id, runId: run.id, doing: rangeKinds.find(({ name }) => name === run.kind)?.doing ?? run.kind })

/**
 * Fails when the router cannot be updated now, because it is off or a run changes the range. Another update of the router does not count:
 * that is waited for.
 */
export const readyToUpdate = (doing: string, range: Range): Effect.Effect<void, Fault, Machines | RunJournal> =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    if (!(yield* routerToTell(doing, range))) return
    const run = yield* journal.active(rangeSubject(range.id))
    // a run that is being aborted gives way
    if (run === undefined || run.cancelRequested || isUpdate(run)) return
    yield* busyWith(range, run)
  })

const isUpdate = ({ kind }: Pick<RunHead, "kind">): boolean => kind === updating.kind

/**
 * Rebuilds the router's rules from the current grants, and waits for the end of that run. An update in progress, started by a concurrent
 * change or the keeper of routers, may have read older grants: another update follows it.
 */
const updateRouter = (doing: string, range: Range, by: UserId): Effect.Effect<void, Fault, RunEngine | Machines | RunJournal> =>
  Effect.gen(function* () {
    if (!(yield* routerToTell(doing, range))) return
    yield* Effect.catchIf(
      Effect.asVoid(runToEnd(doing, range, updating, by)),
      (fault) => fault instanceof RangeBusy,
      (fault) =>
        Effect.gen(function* () {
          const journal = yield* RunJournal
          const run = yield* journal.active(rangeSubject(range.id))
          if (run !== undefined && !isUpdate(run)) return yield* Effect.fail(fault)
          if (run !== undefined) yield* anyEndOfRun(doing, run.id)
          yield* updateRouter(doing, range, by)
        }),
    )
  })

/**
 * How long to wait for one router. Its owner may be hostile, and its machine may never answer; the run continues, and ends or is aborted.
 */
const waitAtMostSeconds = 600

/**
 * Updates the access rules of all these routers at once, each to its end, since no other run can follow one that is still running. A router
 * that fails, is off, or does not finish within `waitSeconds` does not block the others. `doing` completes "Cannot …".
 */
export const updateRouters = (
  { doing, by }: { readonly doing: string; readonly by: UserId },
  ranges: readonly Range[],
  waitSeconds: number = waitAtMostSeconds,
) =>
  Effect.gen(function* () {
    const tell = (range: Range) =>
      updateRouter(doing, range, by).pipe(
        Effect.timeoutOrElse({ duration: waitSeconds * 1000, orElse: () => Effect.fail(slowRouter(doing, range, waitSeconds)) }),
        Effect.result,
        Effect.map((result) => ({ range, result })),
      )
    const ends = yield* forAllAtOnce(ranges, tell)
    const failed = ends.flatMap(({ range, result }) => (Result.isFailure(result) ? [{ range, fault: result.failure }] : []))
    // a router without a record needs one too, so that it is updated later
    const records = yield* AccessRecords
    const told = failed.length === 0 ? undefined : yield* records.told
    for (const { range } of failed) if (told?.has(range.id) === false) yield* records.tell(range.id, [beingTold])
    return { told: ends.flatMap(({ range, result }) => (Result.isSuccess(result) ? [range] : [])), failed }
  })

const slowRouter = (doing: string, { id }: Range, seconds: number): Failed =>
  new Failed({
    what: `Cannot ${doing}: the router of ${id} has not finished after ${seconds} s`,
    hint: `Its run continues; ${howTo("GET /range/logs", {}, id)} shows it, and ${howTo("POST /range/abort", {}, id)} ends it.`,
  })

/** The text about ranges whose routers could not be updated; none when there are none. */
export const untoldRouters = (ranges: readonly RangeId[]): readonly string[] =>
  ranges.length === 0
    ? []
    : [
        ranges.length === 1
          ? `the router of range ${ranges.join()} could not be updated yet. It will be updated once it is reachable and no run changes the range; until then, GET /access and the drift of the range list it`
          : `the routers of ranges ${ranges.join(", ")} could not be updated yet. They will be updated once they are reachable and no run changes their ranges; until then, GET /access and the drift of each range list them`,
      ]
