import type { RunId, UserId } from "../access/ids.ts"

/** The slots of one resource that the steps of one run hold and wait for. */
export interface SlotDemand {
  readonly run: RunId
  /** Of the run's lease. */
  readonly generation: number
  /** Who started the run: slots count towards this owner's share. */
  readonly by: UserId
  /** Steps that hold a slot now. Can exceed the number of slots when a new worker found work in progress. */
  readonly held: number
  /** Slot-seconds used in this generation. A step that still holds its slot counts at least its estimate. */
  readonly had: number
  /** The estimates in seconds of the waiting steps, in order. */
  readonly waiting: readonly number[]
}

/** All demands of one process for one resource. */
export interface SlotQueue {
  readonly resource: string
  /** How many steps may use it at once. */
  readonly slots: number
  readonly demands: readonly SlotDemand[]
}

export interface SlotAnswer {
  /** For each demand: how many of its waiting steps got a slot. */
  readonly granted: readonly number[]
  /**
   * For each demand: whether it was taken into account. False while the run's lease has lapsed and no other worker has claimed the run:
   * repeat the demand then. Demands of a superseded worker and of an ended run mean nothing and need no repetition: true.
   */
  readonly counted: readonly boolean[]
  /** Whether to ask again soon although no own step ends: another process holds slots or waits for them. */
  readonly again: boolean
}

/**
 * Who holds slots of one resource, and how much everyone has used. Times are virtual: an owner's grows by the slot-seconds of its runs, a
 * run's by its own. Plain data that can be stored.
 */
export interface SlotLedger {
  /** Virtual time: that of the owner who was served last. */
  readonly now: number
  /** `due`: the virtual time of the owner. `now`: the virtual time among its runs. */
  readonly owners: readonly { readonly by: UserId; readonly due: number; readonly now: number }[]
  readonly runs: readonly (SlotDemand & { readonly due: number })[]
}

/** The lease of a run that has not ended. */
export interface RunStanding {
  readonly generation: number
  /** Whether it has not lapsed. */
  readonly inForce: boolean
}

const emptyLedger: SlotLedger = { now: 0, owners: [], runs: [] }

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type Owner = Mutable<SlotLedger["owners"][number]> & { held: number }
type Run = Mutable<SlotLedger["runs"][number]>

const isActive = ({ held, waiting }: Pick<SlotDemand, "held" | "waiting">): boolean => held > 0 || waiting.length > 0

/** Order of service: the owner with the fewest slots, then with the least use; the same among the runs of one owner. */
const isBefore = ([a, runA]: readonly [Owner, Run], [b, runB]: readonly [Owner, Run]): boolean =>
  (a.held - b.held || a.due - b.due || runA.held - runB.held || runA.due - runB.due) < 0

/** Replaces the demands of one process, and gives free slots to whoever comes first, in any process. See ADR 55. */
const shareOne = (
  ledger: SlotLedger,
  { slots, demands }: SlotQueue,
  standingOf: (run: RunId) => RunStanding | undefined,
): { readonly ledger: SlotLedger; readonly answer: SlotAnswer } => {
  let { now } = ledger
  const owners = new Map(ledger.owners.map((owner): [UserId, Owner] => [owner.by, { ...owner, held: 0 }]))
  const ownerOf = (by: UserId): Owner => {
    const owner = owners.get(by) ?? { by, due: now, now: 0, held: 0 }
    owners.set(by, owner)
    return owner
  }
  const runs = new Map<RunId, Run>()
  for (const run of ledger.runs) {
    const standing = standingOf(run.run)
    if (standing === undefined) continue
    // work of a dead worker may still go on, so its slots stay taken until the next worker reports; it gets no new ones
    runs.set(run.run, standing.inForce && standing.generation === run.generation ? { ...run } : { ...run, waiting: [] })
  }
  const served = new Set([...runs.values()].filter(isActive).map(({ by }) => by))

  const own = demands.filter(({ run, generation }) => {
    const standing = standingOf(run)
    return standing?.inForce === true && standing.generation === generation
  })
  for (const demand of own) {
    const owner = ownerOf(demand.by)
    const known = runs.get(demand.run)
    // a grant counted as its estimate; one whose answer was lost is credited back here
    const more = known?.generation === demand.generation ? demand.had - known.had : 0
    // whoever arrives or returns starts at the current virtual time: unused time is not saved up
    owner.due = Math.max(owner.due + more, served.has(demand.by) ? 0 : now)
    const due = Math.max((known?.due ?? 0) + more, known !== undefined && isActive(known) ? 0 : owner.now)
    runs.set(demand.run, { ...demand, due })
  }

  let free = slots
  for (const { by, held } of runs.values()) {
    ownerOf(by).held += held
    free -= held
  }
  for (; free > 0; free--) {
    let first: readonly [Owner, Run] | undefined
    for (const run of runs.values()) {
      const candidate = [ownerOf(run.by), run] as const
      if (run.waiting.length > 0 && (first === undefined || isBefore(candidate, first))) first = candidate
    }
    if (first === undefined) break
    const [owner, run] = first
    const [estimate = 0, ...waiting] = run.waiting
    now = Math.max(now, owner.due)
    owner.now = Math.max(owner.now, run.due)
    owner.due = now + estimate
    run.due = owner.now + estimate
    owner.held += 1
    Object.assign(run, { waiting, held: run.held + 1, had: run.had + estimate })
  }

  const mine = new Set(own.map(({ run }) => run))
  const granted = demands.map(({ run, waiting }) => (mine.has(run) ? waiting.length - (runs.get(run)?.waiting.length ?? 0) : 0))
  const counted = demands.map(({ run, generation }) => {
    const standing = standingOf(run)
    return standing === undefined || standing.inForce || standing.generation !== generation
  })
  const again = own.length < demands.length || [...runs.values()].some((run) => !mine.has(run.run) && isActive(run))
  // an idle run or owner is remembered while others are active and its use is ahead of theirs
  const working = new Set([...runs.values()].filter(isActive).map(({ by }) => by))
  const kept = [...runs.values()].filter((run) => isActive(run) || (working.has(run.by) && run.due > ownerOf(run.by).now))
  const known = [...owners.values()].filter(({ by, due }) => working.has(by) || (working.size > 0 && due > now))
  return {
    ledger: { now, owners: known.map(({ by, due, now: at }) => ({ by, due, now: at })), runs: kept },
    answer: { granted, counted, again },
  }
}

/**
 * Shares resources among the runs of all processes. Each queue holds all demands of its process for one resource; other processes count
 * with their last demands. `standingOf`: undefined when the run has ended. A worker without its run's lease gets nothing, and its demands
 * are ignored. Changes the ledgers.
 */
export const shareSlots = (
  ledgers: Map<string, SlotLedger>,
  queues: readonly SlotQueue[],
  standingOf: (run: RunId) => RunStanding | undefined,
): readonly SlotAnswer[] =>
  queues.map((queue) => {
    const { ledger, answer } = shareOne(ledgers.get(queue.resource) ?? emptyLedger, queue, standingOf)
    ledgers.set(queue.resource, ledger)
    return answer
  })
