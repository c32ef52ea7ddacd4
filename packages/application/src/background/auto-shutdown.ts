import {
  enterpriseEntitlement,
  entitles,
  installation,
  isFault,
  type Range,
  type RangeId,
  rootUserId,
  type Vmid,
} from "@rangewright/domain"
import {
  Hypervisor,
  LicenseProvider,
  monotonicMillis,
  type RangeMachine,
  type RangeOverview,
  Ranges,
  RunJournal,
} from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Activity } from "../activity.ts"
import { activityWrittenAfterSeconds } from "../activity-live.ts"
import { RunEngine } from "@rangewright/run-engine"
import { idleTimer } from "../range/idle-timer.ts"
import { rangeRequest } from "../run/request.ts"

/** Seconds between two checks of all ranges. */
const lookEverySeconds = 300

/** A time of day that moved this many milliseconds more or less than the monotonic clock was set. */
const setBy = 60_000
/** Milliseconds for which a use that another instance knows of may not be stored yet. */
const unwritten = 2 * activityWrittenAfterSeconds * 1000

/** Notices that the clock was set, or stood still as in a suspended host, also that it was set back before this process started. */
const makeClockWatch = Effect.gen(function* () {
  const activity = yield* Activity
  const begun = new Date(yield* Clock.currentTimeMillis)
  const difference = Effect.gen(function* () {
    return (yield* Clock.currentTimeMillis) - (yield* monotonicMillis)
  })
  let known = yield* difference
  return Effect.fnUntraced(function* (ranges: readonly Range[]) {
    const millis = yield* Clock.currentTimeMillis
    const isAhead = ({ lastActiveAt, lastDeploymentAt }: Range) =>
      [lastActiveAt, lastDeploymentAt].some((at) => at !== undefined && at.getTime() - millis >= setBy)
    if (activity.idleCountsFrom() === undefined && ranges.some(isAhead)) activity.countIdleFrom(begun)
    const now = yield* difference
    if (Math.abs(now - known) >= setBy) {
      activity.countIdleFrom(new Date(yield* Clock.currentTimeMillis))
      yield* Effect.logWarning("the clock was set: the idle times of ranges are counted anew from now on", {
        secondsAhead: Math.round((now - known) / 1000),
      })
    }
    known = now
  })
})

const offIn = (overviews: readonly RangeOverview[]): ReadonlyMap<RangeId, ReadonlySet<Vmid>> =>
  new Map(
    overviews.map(({ range, machines }) => [
      range.id,
      new Set(machines.flatMap(({ power, vmid }) => (power === "stopped" ? [vmid] : []))),
    ]),
  )

/** Makes a check of all ranges: a run shuts down those that are running, were idle for their time and have nobody logged in. */
export const makeAutoShutdown = Effect.gen(function* () {
  const activity = yield* Activity
  const engine = yield* RunEngine
  const hypervisor = yield* Hypervisor
  const journal = yield* RunJournal
  const license = yield* LicenseProvider
  const ranges = yield* Ranges
  const watchClock = yield* makeClockWatch
  /** The machines of each range that were off at its last check; at first, those that were off when the service stopped. */
  let off = offIn(yield* ranges.overview({}).pipe(Effect.catch(({ message }) => Effect.as(Effect.logWarning(message), []))))

  /**
   * Why the machine counts as used; undefined: it does not. A guest that cannot be asked counts as used: nothing is shut down on a guess.
   */
  const useOf = ({ node, vmid, name = `VM ${vmid}` }: RangeMachine) =>
    hypervisor.sessions(node, vmid).pipe(
      Effect.map((sessions) => (sessions !== undefined && sessions.length > 0 ? `somebody is logged in on ${name}` : undefined)),
      Effect.orElseSucceed(() => `${name} cannot be asked whether somebody is logged in`),
    )

  /** The machines that are on, and whether the range was idle for its time. */
  const timerOf = Effect.fnUntraced(function* (range: Range, machines: readonly RangeMachine[]) {
    const { running, run, endsAt } = yield* idleTimer(range, machines)
    const isIdle = run === undefined && endsAt !== undefined
    return { running, isOver: isIdle && (yield* Clock.currentTimeMillis) >= endsAt.getTime() + unwritten }
  })

  const look = Effect.fnUntraced(function* (range: Range, machines: readonly RangeMachine[]) {
    const { running, isOver } = yield* timerOf(range, machines)
    activity.keptOn(range.id, undefined)
    const wasOff = off.get(range.id)
    // whoever switches a machine on in Proxmox has not had the time to log in on it
    if (running.some(({ vmid }) => wasOff?.has(vmid) === true))
      return yield* ranges.touch(new Map([[range.id, new Date(yield* Clock.currentTimeMillis)]]))
    if (running.length === 0 || !isOver) return
    for (const machine of running) {
      const use = yield* useOf(machine)
      if (use !== undefined) return activity.keptOn(range.id, use)
    }
    // somebody may have come back while the machines were asked
    if (!(yield* timerOf(range, machines)).isOver) return
    yield* Effect.logInfo(`range ${range.id} is idle and is being shut down`)
    yield* engine.start(rangeRequest(range, { kind: "auto-shutdown" }), rootUserId)
  })

  return Effect.gen(function* () {
    const overviews = yield* ranges.overview({})
    yield* watchClock(overviews.map(({ range }) => range))
    if (!entitles(yield* license.current, enterpriseEntitlement)) return
    // a shutdown that has to wait could hit people who have come back meanwhile
    if ((yield* journal.active(installation)) !== undefined) return
    for (const { range, machines } of overviews)
      yield* look(range, machines).pipe(
        // a failure for one range must not affect the others
        Effect.catch((fault) => Effect.logWarning(isFault(fault) ? fault.message : fault)),
      )
    off = offIn(overviews)
  })
})

/** Checks for idle ranges forever. */
export const autoShutdownLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const look = yield* makeAutoShutdown
    const step = Effect.andThen(Effect.sleep(lookEverySeconds * 1000), Effect.ignoreCause(look, { log: "Warn" }))
    yield* Effect.forkScoped(Effect.forever(step))
  }),
)
