import { inOrder, predecessors } from "../plan/graph.ts"
import type { RunState, StepState } from "./state.ts"

/** The end of a step in milliseconds: the actual one, or the estimated one. `ready`: when all its predecessors have ended. */
const endOf = ({ step, phase, startedAt, endedAt }: StepState, ready: number, now: number): number => {
  if (phase === "skipped") return ready
  if (endedAt !== undefined) return endedAt.getTime()
  const begun = startedAt?.getTime() ?? Math.max(ready, now)
  return Math.max(now, begun + step.estimate * 1000)
}

/**
 * The keys of the steps on the critical path: the one that ends last, then its predecessor that ends last, and so on, by actual times and
 * estimates for the rest. Skipped steps are not included.
 */
export const criticalPathOf = ({ plan, steps, endedAt }: RunState, now: Date): ReadonlySet<string> => {
  const ends = new Map<string, number>()
  const at = (endedAt ?? now).getTime()
  const latest = (keys: readonly string[]): string | undefined =>
    keys.reduce<string | undefined>(
      (last, key) => (last === undefined || (ends.get(key) ?? 0) > (ends.get(last) ?? 0) ? key : last),
      undefined,
    )
  for (const step of inOrder(plan?.steps ?? [])) {
    const before = latest(predecessors(step))
    const state = steps.get(step.key)
    const ready = before === undefined ? 0 : (ends.get(before) ?? 0)
    ends.set(step.key, state === undefined ? ready : endOf(state, ready, at))
  }
  const path = new Set<string>()
  for (let key = latest([...ends.keys()]); key !== undefined;) {
    const state = steps.get(key)
    if (state === undefined) break
    if (state.phase !== "skipped") path.add(key)
    key = latest(predecessors(state.step))
  }
  return path
}
