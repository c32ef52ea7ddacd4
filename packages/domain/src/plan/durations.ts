import type { GuestOs, GuestStage } from "./action.ts"
import type { Step } from "./plan.ts"
import { criticalPath } from "./schedule.ts"
import { stageSeconds } from "./timing.ts"
import type { PlanWorld } from "./world.ts"

/** A step as far as its duration is expected and remembered. */
export type Expected = Pick<Step, "estimate" | "timedAs" | "learned">

/** Longer names are not remembered: authors of roles choose them. */
const longestName = 200

/** Beginnings of names. No name of work equals one of them. */
const own = "own "
const again = "again "

/** Whether work with this name is remembered only for the user who ran it, because nobody else may know that it exists. */
export const isOwnWork = (name: string): boolean => name.startsWith(own)

interface Kind {
  /** See `isOwnWork`. */
  readonly isOwn?: boolean
  /** It is done again where it was done before, which often takes less time. */
  readonly isAgain?: boolean
}

/** The name under which the duration of work is remembered. */
const nameOf = (work: string, { isOwn = false, isAgain = false }: Kind): string =>
  `${isOwn ? own : ""}${isAgain ? again : ""}${work}`

/** What is expected of work: its duration in earlier runs, else that of work with the other name, or else this guess. */
export const expected = (
  { durations }: Pick<PlanWorld, "durations">,
  timedAs: string,
  guess: number,
  otherwise: string = timedAs,
): Expected => {
  if (timedAs.length > longestName) return { estimate: guess }
  const learned = durations?.get(timedAs) ?? durations?.get(otherwise)
  return learned === undefined ? { estimate: guess, timedAs } : { estimate: learned, timedAs, learned: true }
}

/** Machines install about as many packages as this at most; more count as this many. */
const mostItems = 20

/** What is expected of a stage. `items`: how many things it installs; `role`: its name, for a role. */
export const expectedStage = (
  world: Pick<PlanWorld, "durations" | "ownRoles">,
  {
    stage,
    os,
    items = 1,
    role,
    isAgain = false,
  }: {
    readonly stage: GuestStage
    readonly os: GuestOs
    readonly items?: number
    readonly role?: string | undefined
    readonly isAgain?: boolean
  },
): Expected => {
  const work =
    role !== undefined ? `role ${role}` : stage === "chocolatey" ? `${stage} ${Math.min(items, mostItems)}` : `${stage} ${os}`
  const isOwn = role !== undefined && world.ownRoles?.has(role) !== false
  // until it was done again, the first time says more than a guess
  return expected(world, nameOf(work, { isAgain, isOwn }), stageSeconds(stage, os, items), nameOf(work, { isOwn }))
}

/** What is expected of the first boot of a clone of a template, or of a later one (`isAgain`). */
export const expectedBoot = (world: PlanWorld, template: string | undefined, kind: Kind, guess: number): Expected =>
  template === undefined ? { estimate: guess } : expected(world, nameOf(`boot ${template}`, kind), guess)

/** What is expected of cloning a template. */
export const expectedClone = (world: PlanWorld, template: string, full: boolean, kind: Kind, guess: number): Expected =>
  expected(world, nameOf(`${full ? "full" : "linked"} clone ${template}`, kind), guess)

/** Whether at least half of the critical path of these steps is estimated from earlier runs. */
export const isFromEarlierRuns = (steps: readonly Step[]): boolean => {
  const { seconds, keys } = criticalPath(steps)
  const path = new Set(keys)
  const learned = steps.reduce((sum, step) => (path.has(step.key) && step.learned === true ? sum + step.estimate : sum), 0)
  return learned > 0 && 2 * learned >= seconds
}
