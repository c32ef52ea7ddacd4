import {
  Conflict,
  Failed,
  type Fault,
  howTo,
  isClosed,
  type MachineMark,
  type Range,
  rangeSubject,
  readRouterReport,
  seenOpen,
} from "@rangewright/domain"
import { GuestAutomation, type KeptInspection, Machines, type RangeMachine, Ranges, RunJournal } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { busyWith } from "./router-access.ts"

/** Most milliseconds to wait for a router: a compromised one may never answer. */
const patienceMillis = 120_000

/** Fails while a run of the range may be changing the rules. */
const requireNoRun = Effect.fnUntraced(function* (range: Range) {
  const journal = yield* RunJournal
  const run = yield* journal.active(rangeSubject(range.id))
  if (run !== undefined) yield* busyWith(range, run)
})

const refuse = (doing: string, because: string, hint: string) => new Conflict({ what: `Cannot ${doing}: ${because}`, hint })

const runningRouter = Effect.fnUntraced(function* (doing: string, range: Range) {
  const machines = yield* Machines
  const router = (yield* machines.ofRange(range.id)).find((machine) => machine.isRouter)
  if (router === undefined)
    return yield* refuse(doing, "the range has no router", `Deploy it: ${howTo("POST /range/deploy", {}, range.id)}.`)
  if (router.power === "running") return router
  const label = router.name ?? `VM ${router.vmid}`
  return yield* refuse(
    doing,
    `its router ${label} is ${router.power}`,
    `Power it on: ${howTo("PUT /range/poweron", {}, range.id)}.`,
  )
})

const askRouter = Effect.fnUntraced(function* (doing: string, range: Range, { vmid, node, name = "" }: RangeMachine) {
  const guests = yield* GuestAutomation
  const mark: MachineMark = { range: range.id, machine: name }
  const task = { machine: { vmid, node, mark }, name, os: "linux", stage: "inspect-router", input: {}, verbose: false } as const
  const asked = Effect.flatMap(guests.dispatch(task), ({ token }) => guests.settle(task, token))
  const answer = yield* Effect.timeoutOption(asked, patienceMillis)
  if (answer._tag === "None")
    return yield* new Failed({
      what: `Cannot ${doing}: router ${name} did not answer within ${patienceMillis / 1000} s`,
      hint: "The state of its rules is not known. Check its console, or stop testing.",
    })
  const { data } = answer.value.facts
  const report = typeof data === "object" && data !== null && "report" in data ? data["report"] : undefined
  const inspection = typeof report === "string" ? readRouterReport(report) : undefined
  return (
    inspection ??
    (yield* new Failed({
      what: `Cannot ${doing}: router ${name} does not report its rules`,
      hint: "This needs playbooks that run inside the machines, and Ansible's collection ansible.posix on the service's host.",
    }))
  )
})

/** Fails unless testing is on: otherwise there is nothing to report. */
export const requireTesting = Effect.fnUntraced(function* (doing: string, range: Range) {
  if (!isClosed(range.testing))
    yield* refuse(doing, `testing of range ${range.id} is not on`, `Start it: ${howTo("PUT /testing/start", {}, range.id)}.`)
})

/**
 * Inspects the router of a range, and stores the result. A router that has other rules than those that were loaded, twice in a row, changes
 * testing mode from `on` to `entering`: it cannot be relied on until a start has loaded the rules again.
 */
export const inspectRouter = (
  doing: string,
  range: Range,
): Effect.Effect<KeptInspection, Fault, GuestAutomation | Machines | Ranges | RunJournal> =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const router = yield* runningRouter(doing, range)
    yield* requireNoRun(range)
    const first = yield* askRouter(doing, range, router)
    const found = first.rules === "changed" ? yield* askRouter(doing, range, router) : first
    yield* requireNoRun(range)
    const testing = (yield* ranges.find(range.id))?.testing ?? range.testing
    if (isClosed(testing) !== isClosed(range.testing))
      return yield* refuse(doing, "testing was started or stopped in the meantime", "Ask again.")
    const at = new Date(yield* Clock.currentTimeMillis)
    const before = isClosed(range.testing) ? undefined : ((yield* ranges.inspection(range.id)) ?? { ...found, at })
    const inspection = before === undefined ? { ...found, at } : seenOpen(before, found, at.getTime())
    if (yield* ranges.keepInspection(range.id, inspection))
      yield* Effect.logWarning(
        `range ${range.id}: router ${router.name ?? router.vmid} has other rules than those that were loaded, so testing no longer counts as on`,
      )
    return inspection
  })

/** Most milliseconds that a stop waits for the router's counters. */
const lastLookMillis = 15_000

/** Saves the router's counters, which are lost when it opens. A router that cannot be asked does not block the stop. */
export const keepLastLook = (doing: string, range: Range) =>
  Effect.gen(function* () {
    const guests = yield* GuestAutomation
    if (guests.overNetwork !== true || !isClosed(range.testing)) return
    yield* Effect.timeoutOption(inspectRouter(doing, range), lastLookMillis).pipe(Effect.ignore)
  })
