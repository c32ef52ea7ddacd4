import { type ObservedCluster, type Plan, type ReservedCapacity, type RangeId, rangeOf, type Vmid } from "@rangewright/domain"
import { RunJournal, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** A deploy that has not started its machines after this time has most likely failed: its reservation is dropped. */
const keptForMillis = 3_600_000

interface ReservedByMachine extends ReservedCapacity {
  readonly vmid: Vmid
}

/** The plan is among this many first entries of a journal; entries before it are about waiting. */
const entriesToPlan = 10

/**
 * Memory and CPUs of nodes that plans have assigned to machines that are not running yet, so that ranges deployed at the same time do not
 * all go to the emptiest node. It only helps placement and is not stored: it is rebuilt from the journals of unfinished runs.
 */
export interface CapacityReservations {
  /** What other ranges have reserved and do not use yet: a running machine is in the node's own figures. */
  readonly reservedByOthers: (than: RangeId, cluster: ObservedCluster) => readonly ReservedCapacity[]
  /** Replaces what the range had reserved before. */
  readonly reserve: (to: RangeId, plan: Plan, now: number) => void
  /** True if a plan of the range that was made then or later is loaded. */
  readonly hasPlanOf: (of: RangeId, since: number) => boolean
}

const reservedBy = ({ steps }: Plan): readonly ReservedByMachine[] => {
  const cloned = new Set(steps.flatMap(({ action }) => (action.kind === "clone" ? [action.machine.vmid] : [])))
  return steps.flatMap(({ action }) => {
    if (action.kind !== "configure" || !cloned.has(action.machine.vmid)) return []
    const { vmid, node } = action.machine
    return [{ vmid, node, memoryMiB: action.settings.memoryMiB, cpus: action.settings.cpus }]
  })
}

export const makeReservations = (): CapacityReservations => {
  const byRange = new Map<RangeId, { readonly at: number; readonly rooms: readonly ReservedByMachine[] }>()
  return {
    reservedByOthers: (than, { at, machines }) => {
      const running = new Set(machines.flatMap(({ vmid, power }) => (power === "running" ? [vmid] : [])))
      for (const [range, reservation] of byRange) {
        const rooms = reservation.rooms.filter(({ vmid }) => !running.has(vmid))
        // one of the future was made before the clock was set back
        if (Math.abs(at.getTime() - reservation.at) > keptForMillis) byRange.delete(range)
        else byRange.set(range, { ...reservation, rooms })
      }
      return [...byRange].flatMap(([range, { rooms }]) => (range === than ? [] : rooms))
    },
    reserve: (to, plan, now) => void byRange.set(to, { at: now, rooms: reservedBy(plan) }),
    hasPlanOf: (of, since) => (byRange.get(of)?.at ?? -Infinity) >= since,
  }
}

/** Loads what unfinished deploys of other instances, or of this one before it restarted, have reserved. Each plan is read once. */
export const loadReservations = (reservations: CapacityReservations): Effect.Effect<void, StorageFault, RunJournal> =>
  Effect.gen(function* () {
    const journal = yield* RunJournal
    for (const run of yield* journal.recoverable) {
      const range = rangeOf(run)
      if (range === undefined || run.kind !== "deploy" || reservations.hasPlanOf(range, run.startedAt.getTime())) continue
      const entries = yield* journal.read(run.id, 0, entriesToPlan).pipe(
        // its own worker reports that
        Effect.catchTag("JournalUnreadable", () => Effect.succeed([])),
      )
      for (const { at, event } of entries) if (event.type === "Planned") reservations.reserve(range, event.plan, at.getTime())
    }
  })
