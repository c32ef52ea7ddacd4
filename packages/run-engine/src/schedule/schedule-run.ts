import { followersOf, isDone, predecessors, priorityOf, type StepPhase } from "@rangewright/domain"
import type { LeaseLost } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import type { RunBook } from "../journal/run-book.ts"
import type { RunSlots } from "./slots.ts"
import type { StepFate } from "../worker/step.ts"

/** How the scheduler runs one step. */
export type RunStep = (key: string) => Effect.Effect<StepFate, LeaseLost>

/**
 * Runs the steps of a planned run until each is settled, failed or skipped. Every ready step runs; where something is scarce, runs share it,
 * and of each the step with the longest way behind it goes first. What depends on a failed step is skipped, all others go on,
 * those too that only had to wait for its end; the failure of a tolerated step stops nothing.
 * After a cancel no step starts; what is in flight settles.
 */
export const runSteps = (book: RunBook, slots: RunSlots, runStep: RunStep): Effect.Effect<void, LeaseLost> =>
  Effect.gen(function* () {
    const steps = book.state().plan?.steps ?? []
    const urgency = priorityOf(steps)
    const followers = followersOf(steps)
    const dependents = followersOf(steps, ({ after }) => after)
    const unmet = new Map(steps.map((step) => [step.key, predecessors(step).length]))
    const outcomes = yield* Queue.unbounded<{ readonly key: string; readonly exit: Exit.Exit<StepFate, LeaseLost> }>()
    const going = new Map<string, ReturnType<RunSlots["occupy"]>>()
    let running = 0

    const phaseOf = (key: string): StepPhase => book.state().steps.get(key)?.phase ?? "skipped"
    const isOpen = (key: string): boolean => {
      const state = book.state().steps.get(key)
      return state !== undefined && !isDone(state)
    }
    const isTolerated = (key: string): boolean => book.state().steps.get(key)?.step.tolerated === true

    const launch = (key: string) => {
      running += 1
      return oneStep(book, going.get(key), slots.hold, runStep, key, urgency.get(key) ?? 0).pipe(
        Effect.exit,
        Effect.tap((exit) => Queue.offer(outcomes, { key, exit })),
        Effect.forkScoped,
      )
    }
    /** One thing less to wait for; returns those that now wait for nothing. What is left undone is over when all before it are. */
    const release = (over: string): readonly string[] => {
      const ready: string[] = []
      const queue = [over]
      for (let key = queue.pop(); key !== undefined; key = queue.pop())
        for (const { key: next } of followers.get(key) ?? []) {
          const left = (unmet.get(next) ?? 0) - 1
          unmet.set(next, left)
          if (left > 0) continue
          if (isOpen(next)) ready.push(next)
          else if (phaseOf(next) === "skipped") queue.push(next)
        }
      return ready
    }
    const skipAfter = (key: string) => {
      const because = `${book.state().steps.get(key)?.step.title ?? key} was not done`
      const reached = new Set<string>()
      const queue = [key]
      for (let at = 0; at < queue.length; at++)
        for (const { key: next } of dependents.get(queue[at] ?? "") ?? [])
          if (isOpen(next) && !reached.has(next)) {
            reached.add(next)
            queue.push(next)
          }
      return book.write(...[...reached].map((skipped) => ({ type: "StepSkipped" as const, key: skipped, because })))
    }

    const done = steps.filter(({ key }) => !isOpen(key))
    for (const { key } of done) if (phaseOf(key) !== "settled" && !isTolerated(key)) yield* skipAfter(key)
    for (const { key } of done) if (phaseOf(key) !== "skipped") release(key)
    // in one go: what was dispatched before a crash never counts as free
    for (const step of steps) if (phaseOf(step.key) === "dispatched") going.set(step.key, slots.occupy(step))
    slots.announce(steps)
    yield* Effect.forEach(
      steps.filter(({ key }) => unmet.get(key) === 0 && isOpen(key)),
      ({ key }) => launch(key),
      { discard: true },
    )
    while (running > 0) {
      const { key, exit } = yield* Queue.take(outcomes)
      running -= 1
      const fate = yield* exit
      if (fate === "failed" && !isTolerated(key)) yield* skipAfter(key)
      if (fate !== "dropped") yield* Effect.forEach(release(key), launch, { discard: true })
    }
    const left = steps.filter(({ key }) => isOpen(key))
    yield* book.write(...left.map(({ key }) => ({ type: "StepSkipped" as const, key, because: "the run was aborted" })))
  }).pipe(Effect.scoped)

/** Waits for room and runs the step; a cancel that comes first drops it. What was dispatched before a crash has its room already. */
const oneStep = (
  book: RunBook,
  occupied: ReturnType<RunSlots["occupy"]> | undefined,
  hold: RunSlots["hold"],
  runStep: RunStep,
  key: string,
  urgency: number,
): Effect.Effect<StepFate, LeaseLost> =>
  Effect.suspend(() => {
    const { step = { uses: [], estimate: 0 } } = book.state().steps.get(key) ?? {}
    const run = runStep(key)
    if (occupied !== undefined) return occupied(run)
    let decided: "begun" | "dropped" | undefined
    const begin = Effect.suspend(() => {
      if (decided === "dropped" || book.state().cancelRequested) return Effect.succeed<StepFate>("dropped")
      decided = "begun"
      return run
    })
    const drop = Effect.suspend(() => {
      if (decided === "begun") return Effect.never
      decided = "dropped"
      return Effect.succeed<StepFate>("dropped")
    })
    return Effect.raceFirst(hold(step, urgency)(begin), Effect.andThen(book.cancelled, drop))
  })
