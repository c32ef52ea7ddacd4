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
import { retryStorage } from "../retry/backoff.ts"

type StepResources = Pick<Step, "uses" | "estimate">

/** The limited resources, as the steps of one run see them. */
export interface RunSlots {
  /**
   * Runs the effect once everything that the step uses has a free slot, and gives the slots back at its end. Within a run, the higher
   * `urgency` goes first.
   */
  readonly withSlots: (
    step: StepResources,
    urgency: number,
  ) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** As `withSlots`, but takes the slots now, even where none is free: for work that is already going on. */
  readonly occupy: (step: StepResources) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Replaces what an earlier worker of the run reported for the resources of these steps: the run now holds only what is occupied. */
  readonly announce: (steps: readonly StepResources[]) => void
}

/** Limits per resource, shared between runs: at most so many clones at once on one storage, so many boots on one node. */
export interface Slots {
  /** For the worker of this generation of the run, while it works. */
  readonly of: (head: RunHead, generation: number) => Effect.Effect<RunSlots, never, Scope.Scope>
}

/** One step that waits for a slot or has one. */
interface Waiter {
  readonly estimate: number
  readonly urgency: number
  readonly granted: Deferred.Deferred<void>
  /**
   * Since when it has its slot (`monotonicMillis`). Undefined while it waits, and for an occupied slot until the allocator first reports
   * it.
   */
  since: number | undefined
}

/** What one run wants and holds of one resource. */
interface Consumer {
  readonly head: RunHead
  readonly generation: number
  /** The most urgent first. */
  readonly waiting: Waiter[]
  readonly holding: Set<Waiter>
  /** Slot-seconds of the steps that have given their slots back. */
  spentSeconds: number
}

interface ResourceQueue {
  readonly resource: string
  readonly allocator: SlotAllocator
  slots: number
  /** The runs that want or hold slots, and those that did at their last report. */
  readonly consumers: Set<Consumer>
}

/** Seconds between two requests for slots that another process holds. */
const retryEverySeconds = 1

/** A slot counts for at least this long, however soon it is given back, so that very short steps take turns too. */
const leastSeconds = 1

const demandOf = ({ head, generation, waiting, holding, spentSeconds }: Consumer, { slots }: ResourceQueue, now: number) => {
  let had = spentSeconds
  for (const waiter of holding) {
    waiter.since ??= now
    had += Math.max(waiter.estimate, (now - waiter.since) / 1000)
  }
  // no more than this many can be granted
  const next = waiting.slice(0, slots).map(({ estimate }) => estimate)
  return { run: head.id, generation, by: head.by, held: holding.size, had, waiting: next }
}

/**
 * Scarcest first, the same order for all: two steps never wait for each other, and none blocks a common resource while it waits for a rare
 * one.
 */
const inLockOrder = (uses: readonly ResourceUse[]): readonly ResourceUse[] =>
  uses.toSorted((a, b) => a.slots - b.slots || (a.resource < b.resource ? -1 : 1))

/** Asks for slots: in this process, or in the store that several processes share. */
type AskForSlots = (queues: readonly SlotQueue[]) => Effect.Effect<readonly SlotAnswer[]>

interface SlotAllocator {
  /** Reports that what the consumer wants or holds has changed. */
  readonly report: (queue: ResourceQueue, consumer: Consumer) => void
}

/** Collects changes and asks for slots in rounds, one at a time. */
const makeSlotAllocator = Effect.fnUntraced(function* (ask: AskForSlots): Effect.fn.Return<SlotAllocator, never, Scope.Scope> {
  const changed = new Set<ResourceQueue>()
  /** Queues to ask for again: another process may give slots back, or a lease may be renewed. */
  const retry = new Set<ResourceQueue>()
  const wake = Latch.makeUnsafe(false)

  const report = (queue: ResourceQueue, consumer: Consumer): void => {
    queue.consumers.add(consumer)
    changed.add(queue)
    wake.openUnsafe()
  }
  const round = Effect.fnUntraced(function* (due: readonly ResourceQueue[]) {
    const asking = due.map((queue) => ({ queue, consumers: [...queue.consumers] }))
    const asked = yield* monotonicMillis
    const demands = asking.map(({ queue, consumers }): SlotQueue => ({
      resource: queue.resource,
      slots: queue.slots,
      demands: consumers.map((consumer) => demandOf(consumer, queue, asked)),
    }))
    const answers = yield* ask(demands)
    const since = yield* monotonicMillis
    for (const [i, { queue, consumers }] of asking.entries()) {
      for (const [j, consumer] of consumers.entries()) {
        const granted = answers[i]?.granted[j] ?? 0
        const given = consumer.waiting.splice(0, granted)
        for (const waiter of given) {
          consumer.holding.add(waiter)
          waiter.since = since
          Deferred.doneUnsafe(waiter.granted, Effect.void)
        }
        // waiters that left meanwhile leave their slots to others
        if (given.length < granted) report(queue, consumer)
        const demand = demands[i]?.demands[j]
        if (answers[i]?.counted[j] === false) retry.add(queue)
        else if (demand?.held === 0 && demand.waiting.length + consumer.holding.size + consumer.waiting.length === 0)
          queue.consumers.delete(consumer)
      }
      if (answers[i]?.again === true && [...queue.consumers].some(({ waiting }) => waiting.length > 0)) retry.add(queue)
    }
  })
  yield* Effect.forever(
    Effect.gen(function* () {
      yield* retry.size === 0 ? wake.await : Effect.raceFirst(wake.await, Effect.sleep(retryEverySeconds * 1000))
      // the caller that woke us may report more in the same turn
      yield* Effect.yieldNow
      wake.closeUnsafe()
      const due = [...new Set([...changed, ...retry])]
      changed.clear()
      retry.clear()
      yield* round(due).pipe(
        // every run of this process depends on this loop: a defect in one round must not end it
        Effect.catchDefect((defect) =>
          Effect.andThen(
            Effect.logError("Sharing slots failed; it will be repeated", defect),
            Effect.sync(() => {
              for (const queue of due) retry.add(queue)
            }),
          ),
        ),
      )
    }),
  ).pipe(Effect.forkScoped)
  return { report }
})

/** `leaseSeconds`: how long the leases of runs last. */
export const makeSlots = Effect.fnUntraced(function* (leaseSeconds: number) {
  const shared = yield* SharedSlots
  const ledgers = new Map<string, SlotLedger>()
  const queues = new Map<string, ResourceQueue>()
  const standings = new Map<RunId, RunStanding>()
  const ofHost = yield* makeSlotAllocator((asked) => Effect.sync(() => shareSlots(ledgers, asked, (run) => standings.get(run))))
  const ofWorld =
    shared === undefined ? ofHost : yield* makeSlotAllocator((asked) => retryStorage(shared.share(asked, leaseSeconds)))

  const queueOf = (use: ResourceUse): ResourceQueue => {
    const { resource, slots } = use
    const queue = queues.get(resource) ?? { resource, allocator: use.ofHost ? ofHost : ofWorld, slots, consumers: new Set() }
    queues.set(resource, queue)
    queue.slots = Math.max(1, slots)
    return queue
  }

  const slotsOf = (head: RunHead, generation: number): RunSlots & { readonly close: () => void } => {
    const consumers = new Map<string, Consumer>()
    const consumerOf = ({ resource }: ResourceUse): Consumer => {
      const consumer = consumers.get(resource) ?? { head, generation, waiting: [], holding: new Set(), spentSeconds: 0 }
      consumers.set(resource, consumer)
      return consumer
    }
    const giveBack = (queue: ResourceQueue, consumer: Consumer, waiter: Waiter): Effect.Effect<void> =>
      Effect.map(monotonicMillis, (now) => {
        const at = consumer.waiting.indexOf(waiter)
        if (at !== -1) consumer.waiting.splice(at, 1)
        if (consumer.holding.delete(waiter)) consumer.spentSeconds += Math.max(leastSeconds, (now - (waiter.since ?? now)) / 1000)
        queue.allocator.report(queue, consumer)
      })
    const withSlot =
      (use: ResourceUse, estimate: number, urgency: number) =>
      <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.suspend(() => {
          const [queue, consumer] = [queueOf(use), consumerOf(use)]
          const waiter: Waiter = { estimate, urgency, granted: Deferred.makeUnsafe(), since: undefined }
          return Effect.suspend(() => {
            const at = consumer.waiting.findIndex((other) => other.urgency < urgency)
            consumer.waiting.splice(at === -1 ? consumer.waiting.length : at, 0, waiter)
            queue.allocator.report(queue, consumer)
            return Effect.andThen(Deferred.await(waiter.granted), effect)
          }).pipe(Effect.ensuring(giveBack(queue, consumer, waiter)))
        })
    const occupyOne = (use: ResourceUse, estimate: number): Effect.Effect<void> => {
      const [queue, consumer] = [queueOf(use), consumerOf(use)]
      const waiter: Waiter = { estimate, urgency: 0, granted: Deferred.makeUnsafe(), since: undefined }
      consumer.holding.add(waiter)
      queue.allocator.report(queue, consumer)
      return giveBack(queue, consumer, waiter)
    }
    return {
      withSlots:
        ({ uses, estimate }, urgency) =>
        (effect) =>
          inLockOrder(uses).reduceRight((inner, use) => withSlot(use, estimate, urgency)(inner), effect),
      occupy: ({ uses, estimate }) => {
        const ends = uses.map((use) => occupyOne(use, estimate))
        return (effect) => Effect.ensuring(effect, Effect.all(ends, { discard: true }))
      },
      announce: (steps) => {
        for (const use of steps.flatMap(({ uses }) => uses)) queueOf(use).allocator.report(queueOf(use), consumerOf(use))
      },
      close: () => {
        standings.delete(head.id)
        for (const [resource, consumer] of consumers) {
          const queue = queues.get(resource)
          consumer.waiting.length = 0
          consumer.holding.clear()
          queue?.allocator.report(queue, consumer)
        }
      },
    }
  }
  return {
    of: (head, generation) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          standings.set(head.id, { generation, inForce: true })
          return slotsOf(head, generation)
        }),
        ({ close }) => Effect.sync(close),
      ),
  } satisfies Slots
})
