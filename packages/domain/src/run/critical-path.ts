import { inOrder, predecessors } from "../plan/graph.ts"
import type { RunState, StepState } from "./state.ts"

/** When a step ends, in milliseconds: when it did, or by its estimate. `ready`: when all before it have ended. */
const endOf = ({ step, phase, startedAt, endedAt }: StepState, ready: number, now: number): number => {
  if (phase === "skipped") return ready
  if (endedAt !== undefined) return endedAt.getTime()
  const begun = startedAt?.getTime() ?? Math.max(ready, now)
  return Math.max(now, begun + step.estimate * 1000)
}

/**
 * The keys of the steps that decide when the run ends: the one that ends last, of those it comes after the one that ends last, and so on. By
 * the times measured so far, and by the estimates for what is still to come. Steps that are not run are not among them.
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
