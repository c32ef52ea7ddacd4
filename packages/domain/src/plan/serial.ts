import type { GuestStage } from "./action.ts"
import { inOrder } from "./graph.ts"
import type { Plan, Step } from "./plan.ts"

/** Hosts that a playbook works on at once by default. */
const forks = 5

/** Stages in the order of a playbook; each begins when the one before has ended on every host. */
const stageOrder: readonly GuestStage[] = [
  "address",
  "sysprep",
  "primary-dc",
  "alt-dc",
  "windows-base",
  "additional-tools",
  "chocolatey",
  "domain-join",
  "office",
  "visual-studio",
  "packages",
]

/**
 * Seconds that the same steps take when playbooks run them in loops: the router first, then one VM after another from its clone to the end
 * of its boot, then stage after stage on five hosts at a time, then one role after another. Pauses that such tools add are left out.
 */
export const simulateSerial = (plan: Pick<Plan, "steps">): number => {
  const steps = inOrder(plan.steps)
  const sum = (some: readonly Step[]): number => some.reduce((seconds, s) => seconds + s.estimate, 0)
  const stageOf = (s: Step): GuestStage | undefined => (s.action.kind === "guest" ? s.action.stage : undefined)
  const atOnce = new Set<GuestStage>(stageOrder)
  const oneByOne = steps.filter((s) => {
    const stage = stageOf(s)
    return stage === undefined || !atOnce.has(stage)
  })
  const batches = stageOrder.map((stage) => inBatches(steps.filter((s) => stageOf(s) === stage).map((s) => s.estimate)))
  return sum(oneByOne) + batches.reduce((a, b) => a + b, 0)
}

/** Five at a time; the slowest of them decides when the next five begin. */
const inBatches = (durations: readonly number[]): number => {
  let seconds = 0
  for (let i = 0; i < durations.length; i += forks) seconds += Math.max(...durations.slice(i, i + forks))
  return seconds
}
