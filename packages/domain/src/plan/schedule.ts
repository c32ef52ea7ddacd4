import type { ResourceUse } from "./plan.ts"
import { followersOf, inOrder, predecessors, type Vertex } from "./graph.ts"

/** A step as far as its timing is concerned. */
export interface TimedStep extends Vertex {
  readonly uses: readonly ResourceUse[]
  /** Expected seconds. */
  readonly estimate: number
}

type Steps = readonly TimedStep[]

/** Seconds from the start of a step to the end of the run with unlimited resources, by key: the longest path from it, itself included. */
export const bottomLevels = (steps: Steps): ReadonlyMap<string, number> => {
  const followers = followersOf(steps)
  const levels = new Map<string, number>()
  for (const step of inOrder(steps).toReversed())
    levels.set(step.key, step.estimate + Math.max(0, ...(followers.get(step.key) ?? []).map((f) => levels.get(f.key)!)))
  return levels
}

/** The longest path through the plan: no schedule is shorter, however many resources there are. */
export const criticalPath = (steps: Steps): { readonly seconds: number; readonly keys: readonly string[] } => {
  const levels = bottomLevels(steps)
  const followers = followersOf(steps)
  const longest = (of: Steps): TimedStep | undefined =>
    of.reduce<TimedStep | undefined>(
      (best, s) => (best === undefined || levels.get(s.key)! > levels.get(best.key)! ? s : best),
      undefined,
    )
  const keys: string[] = []
  const first = longest(steps.filter((s) => predecessors(s).length === 0))
  for (let step = first; step !== undefined; step = longest(followers.get(step.key) ?? [])) keys.push(step.key)
  return { seconds: first === undefined ? 0 : levels.get(first.key)!, keys }
}

/** How long a resource is busy at least: equal jobs go in whole rounds, others share the slots, and no job is split. */
const resourceBound = (durations: readonly number[], slots: number): number => {
  const longest = Math.max(...durations)
  if (durations.every((d) => d === longest)) return Math.ceil(durations.length / slots) * longest
  return Math.max(longest, durations.reduce((a, b) => a + b, 0) / slots)
}

/** A lower bound in seconds for any schedule of the plan: the largest of its critical path and of the bounds of its resources. */
export const lowerBound = (plan: { readonly steps: Steps }): number => {
  const byResource = new Map<string, { readonly slots: number; readonly durations: number[] }>()
  for (const step of plan.steps)
    for (const { resource, slots } of step.uses) {
      const entry = byResource.get(resource) ?? { slots, durations: [] }
      byResource.set(resource, entry)
      entry.durations.push(step.estimate)
    }
  const bounds = [...byResource.values()].map(({ slots, durations }) => resourceBound(durations, slots))
  return Math.max(0, criticalPath(plan.steps).seconds, ...bounds)
}

/** When each step runs, in seconds from the start of the run. */
export interface Schedule {
  readonly makespan: number
  readonly starts: ReadonlyMap<string, number>
}

/** Which of two ready steps goes first: the one with the higher number, then the order of the plan. */
export type Priorities = ReadonlyMap<string, number>

/** Simulates the run engine: whenever something ends, every ready step for which there is room starts, the most urgent first. */
export const simulateSchedule = (plan: { readonly steps: Steps }, priorities: Priorities = priorityOf(plan.steps)): Schedule => {
  const { steps } = plan
  const place = new Map(steps.map((s, i) => [s.key, i]))
  const urgent = (a: TimedStep, b: TimedStep): number =>
    priorities.get(b.key)! - priorities.get(a.key)! || place.get(a.key)! - place.get(b.key)!
  const followers = followersOf(steps)
  const waiting = new Map(steps.map((s) => [s.key, predecessors(s).length]))
  const used = new Map<string, number>()
  const hasRoom = (s: TimedStep): boolean => s.uses.every((u) => (used.get(u.resource) ?? 0) < u.slots)
  const occupy = (s: TimedStep, by: number): void => {
    for (const u of s.uses) used.set(u.resource, (used.get(u.resource) ?? 0) + by)
  }
  const starts = new Map<string, number>()
  let running: { readonly step: TimedStep; readonly end: number }[] = []
  let ready = steps.filter((s) => predecessors(s).length === 0)
  let now = 0
  while (ready.length > 0 || running.length > 0) {
    const left: TimedStep[] = []
    for (const step of ready.toSorted(urgent)) {
      if (!hasRoom(step)) {
        left.push(step)
        continue
      }
      occupy(step, 1)
      starts.set(step.key, now)
      running.push({ step, end: now + step.estimate })
    }
    ready = left
    now = Math.min(...running.map((r) => r.end))
    const over = running.filter((r) => r.end <= now)
    running = running.filter((r) => r.end > now)
    for (const { step } of over) {
      occupy(step, -1)
      for (const next of followers.get(step.key) ?? []) {
        const n = waiting.get(next.key)! - 1
        waiting.set(next.key, n)
        if (n === 0) ready.push(next)
      }
    }
  }
  return { makespan: now, starts }
}

/** How urgent each step is among ready ones: its bottom level. */
export const priorityOf = (steps: Steps): Priorities => bottomLevels(steps)
