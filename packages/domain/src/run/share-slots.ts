import type { RunId, UserId } from "../access/ids.ts"

/** What the steps of one run have of one scarce thing, and what they wait for. */
export interface SlotDemand {
  readonly run: RunId
  /** Of the run's lease. */
  readonly generation: number
  /** Whose share it comes out of: who started the run. */
  readonly by: UserId
  /** How many steps have a slot now; more than there are where work had begun before. */
  readonly held: number
  /** Slot-seconds that steps have had in this generation. One that still has its slot counts at least its estimate. */
  readonly had: number
  /** The estimates, in seconds, of the steps that wait, in the order in which they want to go. */
  readonly waiting: readonly number[]
}

/** Everything that one process wants of one scarce thing. */
export interface SlotQueue {
  readonly resource: string
  /** How many steps may have it at once. */
  readonly slots: number
  readonly demands: readonly SlotDemand[]
}

export interface SlotAnswer {
  /** For each demand, in their order: how many of its waiting steps have a slot now. */
  readonly granted: readonly number[]
  /**
   * For each demand: whether it replaces what was said before. False while the run's lease has lapsed and nobody else has claimed it: it is to
   * be said again. What a superseded or ended worker says means nothing, and counts as said.
   */
  readonly counted: readonly boolean[]
  /** Whether to ask again soon although nothing of one's own ends: another process has slots or waits for them. */
  readonly again: boolean
}

/**
 * Who has what of one scarce thing, and how much everybody has had. Times in it are virtual: an owner's grows by the slot-seconds that its
 * runs get, a run's by its own. Plain data, so that it can be stored.
 */
export interface SlotLedger {
  /** Virtual time: where the owner stood who was served last. */
  readonly now: number
  /** `due`: where the owner stands. `now`: the virtual time among its runs. */
  readonly owners: readonly { readonly by: UserId; readonly due: number; readonly now: number }[]
  readonly runs: readonly (SlotDemand & { readonly due: number })[]
}

/** Of a run that has not ended. */
export interface RunStanding {
  /** Of its lease. */
  readonly generation: number
  /** Whether that has not run out. */
  readonly inForce: boolean
}

const emptyLedger: SlotLedger = { now: 0, owners: [], runs: [] }

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type Owner = Mutable<SlotLedger["owners"][number]> & { held: number }
type Run = Mutable<SlotLedger["runs"][number]>

const isActive = ({ held, waiting }: Pick<SlotDemand, "held" | "waiting">): boolean => held > 0 || waiting.length > 0

/** The first in this order: who has the fewest slots, then who has had the least; owners first, then runs of one owner. */
const isBefore = ([a, runA]: readonly [Owner, Run], [b, runB]: readonly [Owner, Run]): boolean =>
  (a.held - b.held || a.due - b.due || runA.held - runB.held || runA.due - runB.due) < 0

/** Replaces what a process had demanded, and gives free slots to whoever comes first, whichever process they are in. See ADR 55. */
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
    // what was going on when its worker died goes on until the next worker says what of it does; it begins nothing
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
    // what was granted counted as its estimate; a grant whose answer was lost is paid back here
    const more = known?.generation === demand.generation ? demand.had - known.had : 0
    // who comes new or back starts now: nobody saves up what they did not use
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
  // who waits for nothing and has nothing counts as long as another one of its kind does: to it, having had much is to be behind
  const working = new Set([...runs.values()].filter(isActive).map(({ by }) => by))
  const kept = [...runs.values()].filter((run) => isActive(run) || (working.has(run.by) && run.due > ownerOf(run.by).now))
  const known = [...owners.values()].filter(({ by, due }) => working.has(by) || (working.size > 0 && due > now))
  return {
    ledger: { now, owners: known.map(({ by, due, now: at }) => ({ by, due, now: at })), runs: kept },
    answer: { granted, counted, again },
  }
}

/**
 * Shares scarce things out among the runs of all processes: those of the queues as they are now, those of others as they last said. Each
 * queue must hold everything that its process has and wants of its thing. `standingOf`: undefined when the run has ended. Who no longer
 * holds a run's lease gets nothing, and what it says does not count. Changes the ledgers.
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
