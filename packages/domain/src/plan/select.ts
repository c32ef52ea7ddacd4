import type { DeployChoice } from "./input.ts"
import { inOrder } from "./graph.ts"
import type { Task } from "./task.ts"

/** The tasks chosen from a graph, and notes about the rest. */
export interface Selection {
  readonly keys: ReadonlySet<string>
  readonly notes: readonly string[]
}

export interface SelectInput {
  readonly tasks: readonly Task[]
  readonly choice: DeployChoice
  /** Names of the machines within the limit. */
  readonly machines: ReadonlySet<string>
  /** False for a task that nothing here can run. */
  readonly possible: (task: Task) => boolean
}

/**
 * Chooses the tasks that a deploy runs: those that tags, limit and roles ask for and that have something to do, and every missing effect
 * they depend on. Naming a tag or a role, or force, runs a stage again that was done. What is needed but was not selected gets a note.
 */
export const select = (input: SelectInput): Selection => {
  const { tasks, choice } = input
  const byKey = new Map(tasks.map((t) => [t.key, t]))
  const tags = new Set<string>(choice.tags)
  const roles = new Set(choice.onlyRoles)
  const asked = (t: Task): boolean => t.tags.length === 0 || tags.size === 0 || t.tags.some((tag) => tags.has(tag))
  const again = (t: Task): boolean =>
    t.action.kind === "guest" && (choice.force || tags.size > 0 || (t.role !== undefined && roles.has(t.role)))
  const allowed = (t: Task): boolean =>
    input.possible(t) &&
    (t.machine === undefined || input.machines.has(t.machine)) &&
    (t.role === undefined || roles.size === 0 || roles.has(t.role))

  const chosen = new Set(tasks.filter((t) => allowed(t) && asked(t) && (t.state !== "done" || again(t))).map((t) => t.key))
  const notes = new Set<string>()
  // backwards, so that the prerequisites of prerequisites are considered too
  const needed = new Map<string, string>()
  for (const task of inOrder(tasks).toReversed()) {
    const wantedBy = chosen.has(task.key) ? task.title : needed.get(task.key)
    if (wantedBy === undefined) continue
    if (!chosen.has(task.key) && task.state !== "done" && input.possible(task)) {
      if (task.state === "missing" && allowed(task)) chosen.add(task.key)
      else notes.add(`${wantedBy}: "${task.title}" must run before it but was not selected`)
    }
    const goesOn = chosen.has(task.key) || allowed(task) || !input.possible(task)
    if (goesOn) for (const key of task.after) if (byKey.has(key)) needed.set(key, needed.get(key) ?? wantedBy)
  }
  return { keys: chosen, notes: [...notes].sort() }
}
