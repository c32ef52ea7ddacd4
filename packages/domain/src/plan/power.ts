import * as Result from "effect/Result"
import type { RangeId, Vmid } from "../access/ids.ts"
import type { PowerState } from "../machine/observed.ts"
import { type Identified, identify, labelOf, type OwnMachine, type Unreadable, unsureHint } from "./identify.ts"
import type { PlanIssue } from "./issue.ts"
import { bootUse, owedStep, refOf, shutdownPatience, stopStep } from "./machine-steps.ts"
import { doubtNotes } from "./plan-notes.ts"
import type { Change, Plan, Step } from "./plan.ts"
import { criticalPath } from "./schedule.ts"
import { timing } from "./timing.ts"
import type { PlanWorld } from "./world.ts"

/** `off` stops the VM hard; `shutdown` asks the guest first. `reboot` is `shutdown` and a start, `reset` is `off` and a start. */
export const powerChanges = ["on", "off", "shutdown", "reboot", "reset"] as const
export type PowerChange = (typeof powerChanges)[number]

export interface PowerInput {
  readonly range: { readonly id: RangeId }
  readonly world: PlanWorld
  readonly change: PowerChange
  /** Undefined: every machine of the range. */
  readonly vmids: readonly Vmid[] | undefined
  /** Longest wait for a guest that is asked to shut down; default 3 minutes. */
  readonly timeoutSeconds?: number | undefined
  /** True: a reboot or reset leaves out machines that are off, which it otherwise refuses. */
  readonly whereOn?: boolean | undefined
}

const chosenOf = ({ vmids }: Pick<PowerInput, "vmids">, { own }: Identified): readonly OwnMachine[] =>
  [...own.values()].filter(({ observed }) => vmids === undefined || vmids.includes(observed.vmid))

/** Plans to switch machines of a range on or off, all at once; machines already in that state get no step. */
export const planPower = (input: PowerInput): Result.Result<Plan, readonly PlanIssue[]> => {
  const { range, world, vmids, change } = input
  const found = identify(range.id, world)
  const chosen = chosenOf(input, found)
  const hidden = found.unreadable.filter((u) => vmids === undefined || vmids.includes(u.machine.vmid))
  const unknown = (vmids ?? []).filter(
    (v) => !chosen.some((o) => o.observed.vmid === v) && !hidden.some((u) => u.machine.vmid === v),
  )
  const issues: readonly PlanIssue[] = [
    ...unknown.map((v): PlanIssue => ({ code: "unknown-machine", message: `VM ${v} is not a machine of range ${range.id}` })),
    ...(vmids === undefined ? [] : hidden.map(hiddenIssue)),
    // a restart of no machine at all must not count as a success
    ...(isRestart(change) && (input.whereOn !== true || chosen.every(isOff))
      ? chosen.filter(isOff).map((o) => offIssue(o, change))
      : []),
  ]
  if (issues.length > 0) return Result.fail(issues)
  const steps = chosen.flatMap((o) => powerSteps(o, change, input.timeoutSeconds ?? shutdownPatience))
  return Result.succeed({
    rangeId: range.id,
    steps,
    changes: chosen.map((o) => changeOf(o, change, steps)),
    placements: [],
    allocations: [],
    notes: [...doubtNotes(world), ...hidden.map((u) => `${u.message}: it is left unchanged`)],
    criticalPathSeconds: criticalPath(steps).seconds,
  })
}

const hiddenIssue = ({ code, message }: Unreadable): PlanIssue => ({
  code,
  message,
  hint: code === "unsure" ? unsureHint : "Bring the node back, or select only the other machines.",
})

const isOff = ({ observed }: OwnMachine): boolean => observed.power === "stopped"
const isRestart = (change: PowerChange): boolean => change === "reboot" || change === "reset"

/** Whether nothing is to be switched. */
const isReached = (power: PowerState, change: PowerChange): boolean =>
  change === "on" ? power === "running" || power === "paused" : power === "stopped"

const offIssue = ({ observed }: OwnMachine, change: PowerChange): PlanIssue => ({
  code: "machine-off",
  message: `${labelOf(observed)} is off, so it cannot ${change}`,
  hint: "Power it on (PUT /range/poweron), or select only machines that are on.",
})

const powerSteps = (own: OwnMachine, change: PowerChange, timeoutSeconds: number): readonly Step[] => {
  const { machine } = own.mark
  const { power } = own.observed
  const base = { machine, tag: undefined, after: [] } as const
  /** Restores the settings owed after a rollback, then starts. */
  const startAfter = (before: readonly Step[]): readonly Step[] => {
    const after = before.map(({ key }) => key)
    const settle: readonly Step[] = own.owed === undefined ? [] : [{ ...base, ...owedStep(own, own.owed), after }]
    const start: Step = {
      ...base,
      key: `start:${machine}`,
      title: `Start ${machine}`,
      action: { kind: "start", machine: refOf(own), untilAgent: false },
      after: settle.length > 0 ? settle.map(({ key }) => key) : after,
      uses: [bootUse(own.observed.node)],
      estimate: timing.startOnly,
    }
    const staysOn = before.length === 0 && isReached(power, "on")
    return [...before, ...settle, ...(staysOn ? [] : [start])]
  }
  if (change === "on") return startAfter([])
  if (isReached(power, change)) return []
  // one that is paused cannot answer; one whose state is unknown may be on
  const isAsked = (change === "shutdown" || change === "reboot") && power !== "paused"
  const down: Step = isAsked
    ? {
        ...base,
        key: `shutdown:${machine}`,
        title: `Shut down ${machine}`,
        action: { kind: "shutdown", machine: refOf(own), timeoutSeconds },
        uses: [],
        // the operating system is unknown here
        estimate: timing.shutdown.windows,
      }
    : { ...base, ...stopStep(own, []) }
  return isRestart(change) ? startAfter([down]) : [down]
}

const changeOf = (own: OwnMachine, change: PowerChange, steps: readonly Step[]): Change => {
  const object = own.mark.machine
  const acts = steps.some((s) => s.machine === object)
  const reason = isRestart(change) ? change : change === "on" ? "power on" : "power off"
  return { kind: acts ? "change" : "none", object, reasons: acts ? [reason] : [] }
}
