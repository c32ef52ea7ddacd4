import type { GuestOs, GuestStage } from "./action.ts"
import type { PlanIssue } from "./issue.ts"
import type { Plan } from "./plan.ts"
import type { Task } from "./task.ts"
import { listed } from "../text.ts"

/** Why work inside machines is impossible at present. A field that is absent does not narrow it. */
export interface GuestObstacle {
  /** Follows "nothing can be run inside LAB-dc: ". */
  readonly because: string
  /** The way out. */
  readonly hint: string
  /** Only machines with one of these systems. */
  readonly os?: readonly GuestOs[]
  readonly stages?: readonly GuestStage[]
  /** Only roles with these names. */
  readonly roles?: readonly string[]
}

/** Work inside a machine, as far as obstacles distinguish it. `role` is the name of the role, for roles. */
export interface GuestWork {
  readonly os: GuestOs
  readonly stage: GuestStage
  readonly role?: string | undefined
}

/** Whether the obstacle applies to this work. */
export const hinders = ({ os, stages, roles }: GuestObstacle, work: GuestWork): boolean =>
  (os === undefined || os.includes(work.os)) &&
  (stages === undefined || stages.includes(work.stage)) &&
  (roles === undefined || (work.role !== undefined && roles.includes(work.role)))

/** The note of a service that is configured to do nothing inside machines, wherever it appears. */
export const guestsLeftOut = "nothing is done inside machines: the service is configured with guest_automation: none"

/** The same as a sentence, for the response to a deploy that leaves something out. */
export const leftOutTexts = (plan: Pick<Plan, "notes"> | undefined): readonly string[] =>
  plan?.notes.includes(guestsLeftOut) === true
    ? [`N${guestsLeftOut.slice(1)}. Roles, domains, networks and firewalls are not set up.`]
    : []

/** How many names a message lists. */
const most = 8

const eachOnce = (names: Iterable<string>): string => listed([...new Set(names)], most)

const doneBy = (obstacle: GuestObstacle, tasks: readonly Task[]): string => {
  const roles = tasks.flatMap(({ role }) => role ?? [])
  if (obstacle.roles !== undefined) return `the role ${eachOnce(roles)} cannot be run on `
  if (obstacle.stages === undefined) return "nothing can be run inside "
  return `the stage ${eachOnce(tasks.flatMap(({ action }) => (action.kind === "guest" ? [action.stage] : [])))} cannot be run on `
}

/** One issue for each obstacle to the work of these tasks inside machines. */
export const hinderedTasks = (obstacles: readonly GuestObstacle[], tasks: readonly Task[]): readonly PlanIssue[] =>
  obstacles.flatMap((obstacle) => {
    const stuck = tasks.filter(
      ({ action, role }) => action.kind === "guest" && hinders(obstacle, { os: action.os, stage: action.stage, role }),
    )
    if (stuck.length === 0) return []
    const machines = eachOnce(stuck.flatMap(({ machine }) => machine ?? []))
    return [
      {
        code: "nothing-runs-inside" as const,
        message: `${doneBy(obstacle, stuck)}${machines}: ${obstacle.because}`,
        hint: obstacle.hint,
      },
    ]
  })
