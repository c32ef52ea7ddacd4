import { HypervisorFault, monotonicMillis } from "@rangewright/ports"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as Scope from "effect/Scope"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { recordOf, rows, text } from "../wire/read.ts"
import { isRunning, listedOutcome, statusOutcome, type TaskOutcome } from "./outcome.ts"
import { taskName, type Upid } from "./upid.ts"

/** Waits for the end of a task. Fails only when the hypervisor cannot be queried; then it may be called again. */
export type AwaitTask = (upid: Upid) => Effect.Effect<TaskOutcome, HypervisorFault>

export interface WatcherOptions {
  /** Shortest and longest time between two polls, in seconds; in between a tenth of the youngest task's age. */
  readonly fastestSeconds: number
  readonly slowestSeconds: number
}

interface Watched {
  readonly upid: Upid
  readonly since: number
  readonly end: Deferred.Deferred<TaskOutcome, HypervisorFault>
  waiting: number
  /** Polls in which the cluster's list did not show the task: the list holds recent tasks only. */
  missed: number
  /** When its own node was last asked, at first when the wait began. */
  askedAt: number
  /** Its node is being asked. */
  asking: boolean
}

const doingFor = (upid: Upid): string => `read the state of ${taskName(upid)}`

/** Whoever waits is told, instead of waiting for an end that may never be seen. */
const noState = (upid: Upid): HypervisorFault =>
  new HypervisorFault({ doing: doingFor(upid), reason: "away", detail: `node ${upid.node} gives no state of the task` })

/** Misses after which the task is queried individually. */
const missesBeforeAsking = 2
/** How often a listed task is queried individually: the list shows the tasks of a node that lost power as running until it is back. */
const askEveryMillis = 60_000

/**
 * One watcher for all awaited tasks: one `cluster/tasks` call per poll, however many wait; a task missing from the list is queried
 * individually, and a listed one now and then. Idle while nothing is awaited.
 */
export const makeWatcher = Effect.fnUntraced(function* (
  client: PveClient,
  options: WatcherOptions,
): Effect.fn.Return<AwaitTask, never, Scope.Scope> {
  const watched = new Map<string, Watched>()
  const wanted = Latch.makeUnsafe(false)
  const scope = yield* Effect.scope

  /** A copy: a waiter that is notified may at once wait for another task, which belongs to the next poll. */
  const snapshot = (): readonly Watched[] => [...watched.values()]
  const finish = (task: Watched, end: Effect.Effect<TaskOutcome, HypervisorFault>) => {
    // while it was asked about, its waiters may have left and others come: those belong to the next poll
    if (watched.get(task.upid.text) === task) watched.delete(task.upid.text)
    Deferred.doneUnsafe(task.end, end)
  }
  const askFor = (task: Watched): Effect.Effect<void> =>
    client.get(path`/nodes/${task.upid.node}/tasks/${task.upid.text}/status`, {}, { doing: doingFor(task.upid) }).pipe(
      Effect.flatMap((reply) => {
        const outcome = statusOutcome(recordOf(reply.data))
        return outcome !== undefined || isRunning(recordOf(reply.data))
          ? Effect.succeed(outcome)
          : Effect.fail(noState(task.upid))
      }),
      Effect.catchIf(
        (fault) => fault.facts.reason === "not-found",
        (fault) => Effect.succeed<TaskOutcome>({ type: "vanished", detail: fault.facts.detail }),
      ),
      Effect.match({
        onSuccess: (outcome) => {
          if (outcome !== undefined) finish(task, Effect.succeed(outcome))
        },
        onFailure: (fault) => finish(task, Effect.fail(fault)),
      }),
      Effect.ensuring(Effect.sync(() => void (task.asking = false))),
    )
  const look = Effect.gen(function* () {
    const reply = yield* client.get("/cluster/tasks", {}, { doing: "list the tasks of the cluster" })
    const listed = new Map(rows(reply.data).map((row) => [text(row, "upid"), row]))
    const now = yield* monotonicMillis
    const doubtful: Watched[] = []
    for (const task of snapshot()) {
      const row = listed.get(task.upid.text)
      const outcome = row === undefined ? undefined : listedOutcome(row)
      if (outcome !== undefined) finish(task, Effect.succeed(outcome))
      else {
        task.missed = row === undefined ? task.missed + 1 : 0
        const isDue = task.missed >= missesBeforeAsking || now - task.askedAt >= askEveryMillis
        if (!isDue || task.asking) continue
        task.askedAt = now
        task.asking = true
        doubtful.push(task)
      }
    }
    // a node may take long to answer, or not answer: the next poll is not held up
    yield* Effect.forEach(doubtful, (task) => Effect.forkIn(askFor(task), scope), { discard: true })
  }).pipe(
    // every run depends on this loop: not even a defect may end it
    Effect.catchDefect((defect) =>
      Effect.andThen(
        Effect.logError("The tasks of the hypervisor could not be followed; whoever waits for one asks again", defect),
        Effect.sync(() => snapshot().forEach((task) => finish(task, Effect.fail(noState(task.upid))))),
      ),
    ),
    // waiters are told; waiting again is safe
    Effect.catch((fault) => Effect.sync(() => snapshot().forEach((task) => finish(task, Effect.fail(fault))))),
  )
  /** Sleeps in short steps, so that a newly awaited task is not held back by an old one's pace. */
  const pause = Effect.gen(function* () {
    const start = yield* monotonicMillis
    for (;;) {
      yield* Effect.sleep(Math.round(options.fastestSeconds * 1000))
      const now = yield* monotonicMillis
      const youngest = Math.max(0, ...[...watched.values()].map((task) => task.since))
      const seconds = Math.min(options.slowestSeconds, (now - youngest) / 10_000)
      if (now - start >= seconds * 1000) return
    }
  })
  yield* Effect.gen(function* () {
    for (;;) {
      yield* wanted.await
      yield* pause
      if (watched.size > 0) yield* look
      if (watched.size === 0) Latch.closeUnsafe(wanted)
    }
  }).pipe(Effect.forkScoped)

  const enter = (upid: Upid, now: number): Watched => {
    const known = watched.get(upid.text)
    const task = known ?? {
      upid,
      since: now,
      end: Deferred.makeUnsafe<TaskOutcome, HypervisorFault>(),
      waiting: 0,
      missed: 0,
      askedAt: now,
      asking: false,
    }
    watched.set(upid.text, task)
    task.waiting += 1
    Latch.openUnsafe(wanted)
    return task
  }
  const leave = (task: Watched) =>
    Effect.sync(() => {
      task.waiting -= 1
      if (task.waiting === 0 && watched.get(task.upid.text) === task) watched.delete(task.upid.text)
    })
  return (upid) =>
    Effect.flatMap(monotonicMillis, (now) => {
      const task = enter(upid, now)
      return Deferred.await(task.end).pipe(Effect.ensuring(leave(task)))
    })
})
