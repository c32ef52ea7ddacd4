import { followersOf, isDone, isRunning, predecessors, priorityOf, type StepPhase } from "@rangewright/domain"
import type { LeaseLost } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import type { JournalWriter } from "../journal/journal-writer.ts"
import type { RunSlots } from "./slots.ts"
import type { StepOutcome } from "../worker/step.ts"

/** How the scheduler runs one step. */
export type RunStep = (key: string) => Effect.Effect<StepOutcome, LeaseLost>

/**
 * Runs the steps of a planned run until each is settled, failed or skipped. Ready steps run as soon as they get slots; within the run, the
 * step with the longest remaining path goes first. Steps that depend on a failed one are skipped; all others continue, also those that are
 * only ordered after it. A tolerated step that fails skips nothing. After a cancel no step starts, and steps in flight settle: also those
 * that an earlier worker started and may have dispatched.
 */
export const runSteps = (writer: JournalWriter, slots: RunSlots, runStep: RunStep): Effect.Effect<void, LeaseLost> =>
  Effect.gen(function* () {
    const steps = writer.state().plan?.steps ?? []
    const urgency = priorityOf(steps)
    const followers = followersOf(steps)
    const dependents = followersOf(steps, ({ after }) => after)
    const unmet = new Map(steps.map((step) => [step.key, predecessors(step).length]))
    const outcomes = yield* Queue.unbounded<{ readonly key: string; readonly exit: Exit.Exit<StepOutcome, LeaseLost> }>()
    const occupied = new Map<string, ReturnType<RunSlots["occupy"]>>()
    let running = 0

    const phaseOf = (key: string): StepPhase => writer.state().steps.get(key)?.phase ?? "skipped"
    const isOpen = (key: string): boolean => {
      const state = writer.state().steps.get(key)
      return state !== undefined && !isDone(state)
    }
    const isInFlight = (key: string): boolean => {
      const state = writer.state().steps.get(key)
      return state !== undefined && isRunning(state)
    }
    const isTolerated = (key: string): boolean => writer.state().steps.get(key)?.step.tolerated === true

    const launch = (key: string) => {
      running += 1
      return oneStep(writer, occupied.get(key), slots.withSlots, runStep, key, urgency.get(key) ?? 0).pipe(
        Effect.exit,
        Effect.tap((exit) => Queue.offer(outcomes, { key, exit })),
        Effect.forkScoped,
      )
    }
    /** Counts a step as over; returns the steps that are ready now. A skipped step is over once everything before it is. */
    const readyAfter = (over: string): readonly string[] => {
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
      const because = `${writer.state().steps.get(key)?.step.title ?? key} was not done`
      const reached = new Set<string>()
      const queue = [key]
      for (let at = 0; at < queue.length; at++)
        for (const { key: next } of dependents.get(queue[at] ?? "") ?? [])
          if (isOpen(next) && !reached.has(next)) {
            reached.add(next)
            queue.push(next)
          }
      return writer.write(...[...reached].map((skipped) => ({ type: "StepSkipped" as const, key: skipped, because })))
    }

    const done = steps.filter(({ key }) => !isOpen(key))
    for (const { key } of done) if (phaseOf(key) !== "settled" && !isTolerated(key)) yield* skipAfter(key)
    for (const { key } of done) if (phaseOf(key) !== "skipped") readyAfter(key)
    // before any slot is asked for: what was in flight before a crash still holds its slots
    for (const step of steps) if (isInFlight(step.key)) occupied.set(step.key, slots.occupy(step))
    slots.announce(steps)
    yield* Effect.forEach(
      steps.filter(({ key }) => unmet.get(key) === 0 && isOpen(key)),
      ({ key }) => launch(key),
      { discard: true },
    )
    while (running > 0) {
      const { key, exit } = yield* Queue.take(outcomes)
      running -= 1
      const outcome = yield* exit
      if (outcome === "failed" && !isTolerated(key)) yield* skipAfter(key)
      if (outcome !== "dropped") yield* Effect.forEach(readyAfter(key), launch, { discard: true })
    }
    const left = steps.filter(({ key }) => isOpen(key))
    yield* writer.write(...left.map(({ key }) => ({ type: "StepSkipped" as const, key, because: "the run was aborted" })))
  }).pipe(Effect.scoped)

/**
 * Waits for slots and runs the step; a cancel that comes first drops it. A step that was in flight before a crash has its slots already,
 * and no cancel drops it.
 */
const oneStep = (
  writer: JournalWriter,
  occupied: ReturnType<RunSlots["occupy"]> | undefined,
  withSlots: RunSlots["withSlots"],
  runStep: RunStep,
  key: string,
  urgency: number,
): Effect.Effect<StepOutcome, LeaseLost> =>
  Effect.suspend(() => {
    const { step = { uses: [], estimate: 0 } } = writer.state().steps.get(key) ?? {}
    const run = runStep(key)
    if (occupied !== undefined) return occupied(run)
    let decided: "begun" | "dropped" | undefined
    const begin = Effect.suspend(() => {
      if (decided === "dropped" || writer.state().cancelRequested) return Effect.succeed<StepOutcome>("dropped")
      decided = "begun"
      return run
    })
    const drop = Effect.suspend(() => {
      if (decided === "begun") return Effect.never
      decided = "dropped"
      return Effect.succeed<StepOutcome>("dropped")
    })
    return Effect.raceFirst(withSlots(step, urgency)(begin), Effect.andThen(writer.cancelled, drop))
  })
