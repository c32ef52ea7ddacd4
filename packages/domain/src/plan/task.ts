import type { Action } from "./action.ts"
import type { Vertex } from "./graph.ts"
import type { DeployTag, ResourceUse, Step } from "./plan.ts"

/**
 * The state of a task's effect in the world: it is missing; it is there, but as an older configuration wanted it; or there is nothing to
 * do. Tasks that need a missing effect wait for it in this plan; an outdated one is good enough to go on with.
 */
export type TaskState = "missing" | "outdated" | "done"

/** A step that a plan may contain: a plan is a selection of tasks. */
export interface Task extends Vertex {
  readonly title: string
  readonly machine: string | undefined
  /** Each of them selects the task; empty: every deploy needs it. The first is the step's tag. */
  readonly tags: readonly DeployTag[]
  readonly state: TaskState
  /** Name of the role, for roles. */
  readonly role: string | undefined
  readonly action: Action
  readonly uses: readonly ResourceUse[]
  /** As in `Step`. */
  readonly estimate: number
  readonly timedAs?: string
  readonly learned?: true
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
  ...(task.timedAs === undefined ? {} : { timedAs: task.timedAs }),
  ...(task.learned === undefined ? {} : { learned: task.learned }),
})
