import {
  type ResourceUse,
  type RunHead,
  type RunId,
  type RunStanding,
  type SlotAnswer,
  type SlotLedger,
  type SlotQueue,
  shareSlots,
  type Step,
} from "@rangewright/domain"
import { monotonicMillis, SharedSlots } from "@rangewright/ports"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import { untilStored } from "../retry/backoff.ts"

type Scarce = Pick<Step, "uses" | "estimate">

/** The scarce things of the world, as the steps of one run see them. */
export interface RunSlots {
  /** Runs the effect when there is room for all that the step uses, and gives it back at its end. Of one run the higher `urgency` goes first. */
  readonly hold: (step: Scarce, urgency: number) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** As `hold`, but has it from this call on, whatever is free: for work that is going on already. */
  readonly occupy: (step: Scarce) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Says what the run has of all that these steps use, in place of what a worker before this one had: nothing but what is occupied. */
  readonly announce: (steps: readonly Scarce[]) => void
}

/** Shares scarce things between runs: so many at once may clone on one storage, boot on one node. */
export interface Slots {
  /** For the worker of this generation of the run, while it works. */
  readonly of: (head: RunHead, generation: number) => Effect.Effect<RunSlots, never, Scope.Scope>
}

interface Ticket {
  readonly estimate: number
  readonly urgency: number
  readonly granted: Deferred.Deferred<void>
  /** Since when it has its slot, of `monotonicMillis`; undefined while it has none, and until one that was taken at once is told of. */
  since: number | undefined
}

/** What one run has and wants of one thing. */
interface Line {
  readonly head: RunHead
  readonly generation: number
  /** The most urgent first. */
  readonly waiting: Ticket[]
  readonly using: Set<Ticket>
  /** Seconds that those have had who gave theirs back. */
  ended: number
}

interface Queue {
  readonly resource: string
  readonly desk: Desk
  slots: number
  /** Those that have or want something, and those that were last heard of so. */
  readonly lines: Set<Line>
}

/** Seconds until those who wait behind another process look whether it has given something back. */
const lookEverySeconds = 1

/** What a slot counts at least, however soon it is given back: so that those who need it for no time take turns too. */
const leastSeconds = 1

const demandOf = ({ head, generation, waiting, using, ended }: Line, { slots }: Queue, now: number) => {
  let had = ended
  for (const ticket of using) {
    ticket.since ??= now
    had += Math.max(ticket.estimate, (now - ticket.since) / 1000)
  }
  // no more than these could be let in
  const next = waiting.slice(0, slots).map(({ estimate }) => estimate)
  return { run: head.id, generation, by: head.by, held: using.size, had, waiting: next }
}

/** The scarcest first, for everybody: so no two wait for each other, and nobody keeps what many want while it waits for what few do. */
const inTurn = (uses: readonly ResourceUse[]): readonly ResourceUse[] =>
  uses.toSorted((a, b) => a.slots - b.slots || (a.resource < b.resource ? -1 : 1))

/** Where slots are asked for: here, or where all processes that share the store do. */
type Share = (asked: readonly SlotQueue[]) => Effect.Effect<readonly SlotAnswer[]>

interface Desk {
  /** Says that something of the line has changed. */
  readonly mark: (queue: Queue, line: Line) => void
}

/** One turn at a time asks for everything that has changed since the last one. */
const makeDesk = Effect.fnUntraced(function* (share: Share): Effect.fn.Return<Desk, never, Scope.Scope> {
  const changed = new Set<Queue>()
  /** Whose turn may come by what other processes do, or by the renewal of a lease. */
  const waiting = new Set<Queue>()
  const wake = Latch.makeUnsafe(false)

  const mark = (queue: Queue, line: Line): void => {
    queue.lines.add(line)
    changed.add(queue)
    wake.openUnsafe()
  }
  const turn = Effect.fnUntraced(function* (due: readonly Queue[]) {
    const asking = due.map((queue) => ({ queue, lines: [...queue.lines] }))
    const asked = yield* monotonicMillis
    const demands = asking.map(({ queue, lines }): SlotQueue => ({
      resource: queue.resource,
      slots: queue.slots,
      demands: lines.map((line) => demandOf(line, queue, asked)),
    }))
    const answers = yield* share(demands)
    const since = yield* monotonicMillis
    for (const [i, { queue, lines }] of asking.entries()) {
      for (const [j, line] of lines.entries()) {
        const granted = answers[i]?.granted[j] ?? 0
        const given = line.waiting.splice(0, granted)
        for (const ticket of given) {
          line.using.add(ticket)
          ticket.since = since
          Deferred.doneUnsafe(ticket.granted, Effect.void)
        }
        // those that left meanwhile leave their slots to others
        if (given.length < granted) mark(queue, line)
        const said = demands[i]?.demands[j]
        if (answers[i]?.counted[j] === false) waiting.add(queue)
        else if (said?.held === 0 && said.waiting.length + line.using.size + line.waiting.length === 0) queue.lines.delete(line)
      }
      if (answers[i]?.again === true && [...queue.lines].some((line) => line.waiting.length > 0)) waiting.add(queue)
    }
  })
  yield* Effect.forever(
    Effect.gen(function* () {
      yield* waiting.size === 0 ? wake.await : Effect.raceFirst(wake.await, Effect.sleep(lookEverySeconds * 1000))
      // who woke us may have more to say
      yield* Effect.yieldNow
      wake.closeUnsafe()
      const due = [...new Set([...changed, ...waiting])]
      changed.clear()
      waiting.clear()
      yield* turn(due).pipe(
        // all runs of this process wait here: one turn that breaks must not be the last
        Effect.catchDefect((defect) =>
          Effect.andThen(
            Effect.logError("a turn of sharing slots broke, and is taken again", defect),
            Effect.sync(() => {
              for (const queue of due) waiting.add(queue)
            }),
          ),
        ),
      )
    }),
  ).pipe(Effect.forkScoped)
  return { mark }
})

/** `leaseSeconds`: how long the leases of runs are. */
export const makeSlots = Effect.fnUntraced(function* (leaseSeconds: number) {
  const shared = yield* SharedSlots
  const ledgers = new Map<string, SlotLedger>()
  const queues = new Map<string, Queue>()
  const working = new Map<RunId, RunStanding>()
  const here = yield* makeDesk((asked) => Effect.sync(() => shareSlots(ledgers, asked, (run) => working.get(run))))
  const everywhere = shared === undefined ? here : yield* makeDesk((asked) => untilStored(shared.share(asked, leaseSeconds)))

  const queueOf = ({ resource, slots, ofHost }: ResourceUse): Queue => {
    const queue = queues.get(resource) ?? { resource, desk: ofHost ? here : everywhere, slots, lines: new Set() }
    queues.set(resource, queue)
    queue.slots = Math.max(1, slots)
    return queue
  }

  const slotsOf = (head: RunHead, generation: number): RunSlots & { readonly close: () => void } => {
    const lines = new Map<string, Line>()
    const lineOf = ({ resource }: ResourceUse): Line => {
      const line = lines.get(resource) ?? { head, generation, waiting: [], using: new Set(), ended: 0 }
      lines.set(resource, line)
      return line
    }
    const leave = (queue: Queue, line: Line, ticket: Ticket): Effect.Effect<void> =>
      Effect.map(monotonicMillis, (now) => {
        const at = line.waiting.indexOf(ticket)
        if (at !== -1) line.waiting.splice(at, 1)
        if (line.using.delete(ticket)) line.ended += Math.max(leastSeconds, (now - (ticket.since ?? now)) / 1000)
        queue.desk.mark(queue, line)
      })
    /** Has one thing for as long as the effect lasts, when there is room. */
    const within =
      (use: ResourceUse, estimate: number, urgency: number) =>
      <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.suspend(() => {
          const [queue, line] = [queueOf(use), lineOf(use)]
          const ticket: Ticket = { estimate, urgency, granted: Deferred.makeUnsafe(), since: undefined }
          return Effect.suspend(() => {
            const at = line.waiting.findIndex((other) => other.urgency < urgency)
            line.waiting.splice(at === -1 ? line.waiting.length : at, 0, ticket)
            queue.desk.mark(queue, line)
            return Effect.andThen(Deferred.await(ticket.granted), effect)
          }).pipe(Effect.ensuring(leave(queue, line, ticket)))
        })
    const occupyOne = (use: ResourceUse, estimate: number): Effect.Effect<void> => {
      const [queue, line] = [queueOf(use), lineOf(use)]
      const ticket: Ticket = { estimate, urgency: 0, granted: Deferred.makeUnsafe(), since: undefined }
      line.using.add(ticket)
      queue.desk.mark(queue, line)
      return leave(queue, line, ticket)
    }
    return {
      hold:
        ({ uses, estimate }, urgency) =>
        (effect) =>
          inTurn(uses).reduceRight((inner, use) => within(use, estimate, urgency)(inner), effect),
      occupy: ({ uses, estimate }) => {
        const ends = uses.map((use) => occupyOne(use, estimate))
        return (effect) => Effect.ensuring(effect, Effect.all(ends, { discard: true }))
      },
      announce: (steps) => {
        for (const use of steps.flatMap(({ uses }) => uses)) queueOf(use).desk.mark(queueOf(use), lineOf(use))
      },
      close: () => {
        working.delete(head.id)
        for (const [resource, line] of lines) {
          const queue = queues.get(resource)
          line.waiting.length = 0
          line.using.clear()
          queue?.desk.mark(queue, line)
        }
      },
    }
  }
  return {
    of: (head, generation) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          working.set(head.id, { generation, inForce: true })
          return slotsOf(head, generation)
        }),
        ({ close }) => Effect.sync(close),
      ),
  } satisfies Slots
})
