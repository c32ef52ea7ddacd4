import { type ObservedCluster, type Plan, type PromisedRoom, type RangeId, rangeOf, type Vmid } from "@rangewright/domain"
import { RunJournal, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** A deploy that has not started its machines after so long has most likely failed: its promise is not kept any longer. */
const keptForMillis = 3_600_000

interface GivenRoom extends PromisedRoom {
  readonly vmid: Vmid
}

/** Entries of a journal among which its plan is; what comes before it tells of waiting. */
const entriesToPlan = 10

/**
 * The room on nodes that plans have given to machines which do not take it yet, so that ranges that are deployed at the same time do not all
 * go to the node that is emptiest now. A help for placement and nothing more: it is not stored, for the journals of unfinished runs tell it.
 */
export interface Promises {
  /** What was promised to other ranges and is not taken: a machine that runs is in the node's own figures. */
  readonly toOthers: (than: RangeId, cluster: ObservedCluster) => readonly PromisedRoom[]
  /** The range's newest plan takes the place of what was promised to it before. */
  readonly make: (to: RangeId, plan: Plan, now: number) => void
  /** Whether a plan of the range is known that was made then or later. */
  readonly knows: (of: RangeId, since: number) => boolean
}

const promisedBy = ({ steps }: Plan): readonly GivenRoom[] => {
  const cloned = new Set(steps.flatMap(({ action }) => (action.kind === "clone" ? [action.machine.vmid] : [])))
  return steps.flatMap(({ action }) => {
    if (action.kind !== "configure" || !cloned.has(action.machine.vmid)) return []
    const { vmid, node } = action.machine
    return [{ vmid, node, memoryMiB: action.settings.memoryMiB, cpus: action.settings.cpus }]
  })
}

export const makePromises = (): Promises => {
  const given = new Map<RangeId, { readonly at: number; readonly rooms: readonly GivenRoom[] }>()
  return {
    toOthers: (than, { at, machines }) => {
      const running = new Set(machines.flatMap(({ vmid, power }) => (power === "running" ? [vmid] : [])))
      for (const [range, promise] of given) {
        const rooms = promise.rooms.filter(({ vmid }) => !running.has(vmid))
        if (at.getTime() - promise.at > keptForMillis) given.delete(range)
        else given.set(range, { ...promise, rooms })
      }
      return [...given].flatMap(([range, { rooms }]) => (range === than ? [] : rooms))
    },
    make: (to, plan, now) => void given.set(to, { at: now, rooms: promisedBy(plan) }),
    knows: (of, since) => (given.get(of)?.at ?? -Infinity) >= since,
  }
}

/** Learns what unfinished deploys have promised that other instances planned, or this one before it was started anew. Each is read once. */
export const learnPromises = (promises: Promises): Effect.Effect<void, StorageFault, RunJournal> =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    for (const run of yield* journal.recoverable) {
      const range = rangeOf(run)
      if (range === undefined || run.kind !== "deploy" || promises.knows(range, run.startedAt.getTime())) continue
      const entries = yield* journal.read(run.id, 0, entriesToPlan).pipe(
        // its own worker says so
        Effect.catchTag("JournalUnreadable", () => Effect.succeed([])),
      )
      for (const { at, event } of entries) if (event.type === "Planned") promises.make(range, event.plan, at.getTime())
    }
  })
