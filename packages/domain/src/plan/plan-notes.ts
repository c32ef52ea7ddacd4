import type { GuestStage } from "./action.ts"
import { guestsLeftOut } from "./guest-obstacles.ts"
import type { DeployChoice } from "./input.ts"
import type { DesiredRange } from "./desired.ts"
import type { MachineState } from "./machine-tasks.ts"
import type { Plan } from "./plan.ts"
import type { Task } from "./task.ts"
import type { PlanWorld } from "./world.ts"

/** Says that the hypervisor's lists are in doubt: what they lack may exist all the same. */
export const doubtNotes = ({ doubt }: PlanWorld): readonly string[] =>
  doubt === undefined ? [] : [`the hypervisor's lists cannot be trusted: ${doubt}`]

/** How a note about a stage begins that is left out. */
const stageNote = "the stage "

/** Most notes in the answer to a deploy; the run has all of them. */
const mostNotes = 10

/** What else the plan notes, a sentence each; what is left out inside machines is told by `leftOutTexts`. */
export const noteTexts = (plan: Pick<Plan, "notes"> | undefined): readonly string[] => {
  const notes = (plan?.notes ?? []).filter((note) => note !== guestsLeftOut && !note.startsWith(stageNote))
  const more = notes.length - mostNotes
  return [
    ...notes.slice(0, mostNotes).map((note) => `Note: ${note}.`),
    ...(more > 0 ? [`${more} more: read the notes of the run or the plan.`] : []),
  ]
}

/** What is left out because nothing is done inside machines: one note for each stage. */
export const leftOutNotes = (tasks: readonly Task[]): readonly string[] => {
  const machines = new Map<GuestStage, Set<string>>()
  for (const { action, machine } of tasks)
    if (action.kind === "guest" && machine !== undefined)
      machines.set(action.stage, (machines.get(action.stage) ?? new Set()).add(machine))
  const stages = [...machines].map(([stage, names]) => `${stageNote}${stage} is left out: ${[...names].join(", ")}`)
  return stages.length === 0 ? [] : [guestsLeftOut, ...stages]
}

/** Steps that depend on a machine that does not exist and that was not selected. */
export const absentNotes = ({ machines }: DesiredRange, tasks: readonly Task[], kept: readonly Task[]): readonly string[] => {
  const known = new Set(tasks.map((t) => t.key))
  const stages = new Map(machines.flatMap((m) => m.stages.map((stage) => [stage.key, stage] as const)))
  return kept.flatMap((task) =>
    (stages.get(task.key)?.needs ?? [])
      .filter((key) => !known.has(key))
      .map((key) => `${task.title}: "${stages.get(key)?.title ?? key}" must run before it but was not selected`),
  )
}

/** VMs in a state in which steps may have to wait or fail. */
export const stateNotes = (machineStates: ReadonlyMap<string, MachineState>): readonly string[] =>
  [...machineStates].flatMap(([name, s]) => {
    if (s.kind !== "there") return []
    const { observed, detail } = s.existing
    return [
      ...(observed.power === "paused" ? [`${name} is paused: resume it on the hypervisor`] : []),
      ...(detail.lock === undefined ? [] : [`${name} is locked on the hypervisor (${detail.lock})`]),
    ]
  })

/** Tags and roles of the request that match nothing in this range. */
export const idleChoiceNotes = ({ tags, onlyRoles }: DeployChoice, tasks: readonly Task[]): readonly string[] => {
  const roles = new Set(tasks.flatMap((t) => t.role ?? []))
  const known = new Set<string>(tasks.flatMap((t) => t.tags))
  return [
    ...tags.filter((tag) => !known.has(tag)).map((tag) => `nothing in this range has the tag ${tag}`),
    ...onlyRoles.filter((role) => !roles.has(role)).map((role) => `no machine of this range has the role ${role}`),
  ]
}
