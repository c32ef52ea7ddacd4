import * as Result from "effect/Result"
import type { RangeId } from "../access/ids.ts"
import { type RangeConfig, renderName } from "../range/config/index.ts"
import { expectedBoot, expectedStage } from "./durations.ts"
import { matchHosts } from "./host-pattern.ts"
import { identify, type OwnMachine } from "./identify.ts"
import type { PlanIssue } from "./issue.ts"
import { bootUse, isRunning, refOf } from "./machine-steps.ts"
import type { Plan, Step } from "./plan.ts"
import { criticalPath } from "./schedule.ts"
import { stageKey } from "./stage-keys.ts"
import { slots, timing } from "./timing.ts"
import { isEverybodys } from "./templates.ts"
import type { PlanWorld } from "./world.ts"

export interface UpdateWindowsInput {
  readonly range: { readonly id: RangeId }
  readonly config: RangeConfig
  readonly world: PlanWorld
  /** A host pattern. */
  readonly machines: string
  /** The operator wants nothing done inside machines. */
  readonly guestsLeftOut: boolean
}

/** Plans to install Windows updates on each Windows machine that the pattern selects, and to start those that are off. */
export const planUpdateWindows = (input: UpdateWindowsInput): Result.Result<Plan, readonly PlanIssue[]> => {
  const { range, config, world, machines, guestsLeftOut } = input
  if (guestsLeftOut)
    return Result.fail([{ code: "nothing-runs-inside", message: "this service is configured to do nothing inside machines" }])
  const own = [...identify(range.id, world).own.values()]
  const windows = new Set(
    config.machines.flatMap(({ name, os }) => (os.kind === "windows" ? [renderName(name, { rangeId: range.id })] : [])),
  )
  const hosts = own.map(({ mark: { machine: name }, groups }) => ({
    name,
    groups: windows.has(name) ? [...groups, "windows"] : groups,
  }))
  return Result.flatMap(matchHosts(machines, hosts), (names) => {
    const chosen = own.filter(({ mark }) => names.has(mark.machine))
    const updated = chosen.filter(({ mark }) => windows.has(mark.machine))
    const others = chosen.filter((one) => !updated.includes(one)).map(({ mark }) => mark.machine)
    if (updated.length === 0)
      return Result.fail([
        {
          code: "bad-limit" as const,
          message: `"${machines}" matches no Windows machine`,
          hint: "Select Windows machines or groups.",
        },
      ])
    const steps = updated.flatMap((one) => stepsFor(range.id, world, one))
    return Result.succeed<Plan>({
      rangeId: range.id,
      steps,
      changes: updated.map(({ mark }) => ({ kind: "change", object: mark.machine, reasons: ["Windows updates"] })),
      placements: [],
      allocations: [],
      notes: others.length === 0 ? [] : [`${others.join(", ")}: skipped, because only Windows is updated`],
      criticalPathSeconds: criticalPath(steps).seconds,
    })
  })
}

const stepsFor = (rangeId: RangeId, world: PlanWorld, own: OwnMachine): readonly Step[] => {
  const { machine, template } = own.mark
  const isOwn = !isEverybodys(world, rangeId, template)
  const base = { machine, tag: undefined, tolerated: true } as const
  const start: Step = {
    ...base,
    key: `start:${machine}`,
    title: `Start ${machine}`,
    action: { kind: "start", machine: refOf(own), untilAgent: true },
    after: [],
    uses: [bootUse(own.observed.node)],
    ...expectedBoot(world, template, { isOwn, isAgain: true }, timing.boot.windows),
  }
  const update: Step = {
    ...base,
    key: stageKey("windows-update", machine),
    title: `Update Windows on ${machine}`,
    action: { kind: "guest", machine: refOf(own), os: "windows", stage: "windows-update", input: {} },
    after: isRunning(own) ? [] : [start.key],
    uses: [{ resource: "automation", slots: slots.automation, ofHost: true }],
    ...expectedStage(world, { stage: "windows-update", os: "windows" }),
  }
  return isRunning(own) ? [update] : [start, update]
}
