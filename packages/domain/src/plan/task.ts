import type { Action } from "./action.ts"
import type { Vertex } from "./graph.ts"
import type { DeployTag, ResourceUse, Step } from "./plan.ts"

/**
 * How a task stands against the world: its effect is not there; it is there, but as an older configuration wanted it; or there is
 * nothing to do. Whoever needs a missing effect waits for it in this plan; an outdated one is good enough to go on with.
 */
export type TaskState = "missing" | "outdated" | "done"

/** A step that a plan may have: choosing among tasks makes the plan. */
export interface Task extends Vertex {
  readonly title: string
  readonly machine: string | undefined
  /** Each of them selects the task; none: every deploy needs it. The first is the step's tag. */
  readonly tags: readonly DeployTag[]
  readonly state: TaskState
  /** Name of the role, for roles. */
  readonly role: string | undefined
  readonly action: Action
  readonly uses: readonly ResourceUse[]
  /** Expected seconds. */
  readonly estimate: number
}

export const stepOf = (task: Task): Step => ({
  key: task.key,
  title: task.title,
  tag: task.tags[0],
  machine: task.machine,
  action: task.action,
  after: task.after,
  ...(task.behind === undefined || task.behind.length === 0 ? {} : { behind: task.behind }),
  uses: task.uses,
  estimate: task.estimate,
})
