import {
  Conflict,
  Failed,
  idleText,
  installation,
  type MigrationDirection,
  type RunHead,
  type RunId,
  type RunState,
  subjectText,
  type UserId,
  listed,
} from "@rangewright/domain"
import { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { blockingRangeRuns } from "../run/installation-gate.ts"
import { endOfRun, outcomeFault } from "@rangewright/run-engine"
import { RunEngine } from "@rangewright/run-engine"
import { byHandMark, migrateToSdn, returnToBridges } from "./migration-runs.ts"
import { migrationOptions } from "./read-installation.ts"
import { isAsPlanned } from "./migration-work.ts"
import { planNetworks } from "./plan-networks.ts"
import { reachOf } from "./undo-networks.ts"

const texts = {
  "to-sdn": {
    doing: "migrate to SDN networking",
    done: "The migration to SDN VNets finished successfully",
    next: "GET /migrate/sdn/report compares every machine before and after.",
  },
  "to-bridges": {
    doing: "return to bridges",
    done: "The return to bridges finished successfully",
    next: "Set cluster_mode: false, remove ludus_nat_interface and restart the service before ranges are deployed again: in cluster mode a range on bridges is refused.",
  },
} as const satisfies Record<MigrationDirection, unknown>

/** Fails while ranges are being changed, unless a migration is already running, which the caller then joins. */
const requireRangesAtRest = (doing: string) =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    // one read: a migration that begins meanwhile is joined, and its caller is not told to wait for the runs that wait for it
    const unfinished = yield* journal.unfinished
    const busy = blockingRangeRuns(unfinished)
    if (busy.length === 0 || unfinished.some(({ subject }) => subject.type === installation.type)) return
    const named = busy.map(({ id, kind, subject }) => `run ${id} (${kind}) of ${subjectText(subject)}`)
    return yield* new Conflict({
      what: `Cannot ${doing}: ${listed(named)} ${busy.length === 1 ? "is" : "are"} running`,
      hint: "Wait for them, or abort them.",
    })
  })

/** What the run did, for people, and what is left to do by hand. A machine that was gone by then does not count as moved. */
const outcome = (direction: MigrationDirection, { steps, plan }: RunState): string => {
  const byHand = (plan?.notes ?? []).filter((note) => note.startsWith(byHandMark))
  if (plan === undefined || plan.steps.length === 0) return [idleText({ direction, idle: "done" }) ?? "", ...byHand].join("\n")
  const moved = [...steps].filter(([key, { facts }]) => key.startsWith("move:") && facts?.changed === true).length
  return [
    `${texts[direction].done}: ${moved} ${moved === 1 ? "machine" : "machines"} moved in ${steps.size} steps.`,
    ...byHand,
    texts[direction].next,
  ].join("\n")
}

const unseen = "No machine has moved; it is not known whether all preparations were undone"

/** The state in which a failed run left the installation. Preparations are undone when it ends; this checks whether that succeeded. */
const aftermath = (state: RunState, direction: MigrationDirection, createZone: boolean) => {
  const reach = reachOf(state)
  if (reach === "nothing") return Effect.succeed("Nothing was changed")
  if (reach === "moved")
    return Effect.succeed(
      "Machines have begun to move, so nothing was undone: fix the cause and start again, which continues from here",
    )
  return planNetworks(direction, createZone, { snapshots: false }).pipe(
    Effect.map((plan) => {
      if (isAsPlanned(plan, state)) return "No machine has moved, and the preparations were undone"
      if (plan.blockers.length > 0) return unseen
      return "No machine has moved; some of the preparations are still there, and starting again continues from them"
    }),
    Effect.catch(() => Effect.succeed(unseen)),
  )
}

const mostHintsShown = 3

/**
 * The failure of a run, with the state in which it left the installation, and the hints of its steps. A change of the installation since
 * planning is a conflict here too.
 */
const failureOf = (direction: MigrationDirection, createZone: boolean, id: RunId, fault: Failed) =>
  Effect.gen(function* () {
    const engine = yield* RunEngine
    const state = yield* engine.state(id)
    const failures = [...state.steps.values()].flatMap(({ phase, failure }) => (phase === "failed" && failure ? [failure] : []))
    const outdated = failures.find(({ kind }) => kind === "conflict" && reachOf(state) === "nothing")
    const ways = [...new Set(failures.flatMap(({ hint }) => hint ?? []))].slice(0, mostHintsShown)
    const hints = [...ways, ...(fault.hint === undefined ? [] : [fault.hint])]
    const hint = hints.length === 0 ? {} : { hint: hints.join(" ") }
    if (outdated !== undefined) return new Conflict({ what: outdated.message, hint: ways.join(" ") })
    return new Failed({ what: `${fault.message}. ${yield* aftermath(state, direction, createZone)}`, ...hint })
  })

/** Starts the run that moves the installation's networks, or joins the running one. Undefined on a single node: there is nothing to do. */
export const startMigration = (direction: MigrationDirection, createZone: boolean, by: UserId) =>
  Effect.gen(function* () {
    const engine = yield* RunEngine
    const { clusterMode } = yield* migrationOptions(createZone)
    if (!clusterMode) return undefined
    yield* requireRangesAtRest(texts[direction].doing)
    const kind = direction === "to-sdn" ? migrateToSdn : returnToBridges
    const head: RunHead = yield* engine.start(kind.request(installation, { createZone }), by)
    return head
  })

/** What a finished run did, for people; fails with the cause and the state of the installation when it did not succeed. */
export const migrationOutcome = (direction: MigrationDirection, createZone: boolean, id: RunId, state: RunState) =>
  state.status === "success" || state.status === "partial"
    ? Effect.succeed(outcome(direction, state))
    : Effect.flatMap(failureOf(direction, createZone, id, outcomeFault(texts[direction].doing, id, state)), Effect.fail)

/**
 * Moves the installation's networks in a run, and waits for its end; returns the outcome as text. A caller that leaves does not end the
 * run, and a caller that comes while it is running waits for the same end.
 */
export const migrateToEnd = (direction: MigrationDirection, createZone: boolean, by: UserId) =>
  Effect.gen(function* () {
    const run = yield* startMigration(direction, createZone, by)
    if (run === undefined) return idleText({ direction, idle: "single-node" }) ?? ""
    const state = yield* endOfRun(texts[direction].doing, run.id).pipe(
      Effect.catchIf(
        (fault) => fault instanceof Failed,
        (fault) => Effect.flatMap(failureOf(direction, createZone, run.id, fault), Effect.fail),
      ),
    )
    return outcome(direction, state)
  })
