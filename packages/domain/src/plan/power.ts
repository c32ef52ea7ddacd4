import * as Result from "effect/Result"
import type { RangeId, Vmid } from "../access/ids.ts"
import { identify, type OwnMachine, type Unreadable, unsureHint } from "./identify.ts"
import type { PlanIssue } from "./issue.ts"
import { bootUse, owedStep, refOf, shutdownPatience, stopStep } from "./machine-steps.ts"
import { doubtNotes } from "./plan-notes.ts"
import type { Change, Plan, Step } from "./plan.ts"
import { criticalPath } from "./schedule.ts"
import { timing } from "./timing.ts"
import type { PlanWorld } from "./world.ts"

/** `off` pulls the plug; `shutdown` asks the guest first. */
export type PowerChange = "on" | "off" | "shutdown"

export interface PowerInput {
  readonly range: { readonly id: RangeId }
  readonly world: PlanWorld
  readonly change: PowerChange
  /** Undefined: every machine of the range. */
  readonly vmids: readonly Vmid[] | undefined
}

/** The plan that switches machines of a range on or off, all at once; those that are there already have no step. */
export const planPower = (input: PowerInput): Result.Result<Plan, readonly PlanIssue[]> => {
  const { range, world, vmids, change } = input
  const found = identify(range.id, world)
  const own = [...found.own.values()]
  const chosen = vmids === undefined ? own : own.filter((o) => vmids.includes(o.observed.vmid))
  const hidden = found.unreadable.filter((u) => vmids === undefined || vmids.includes(u.machine.vmid))
  const unknown = (vmids ?? []).filter(
    (v) => !chosen.some((o) => o.observed.vmid === v) && !hidden.some((u) => u.machine.vmid === v),
  )
  const issues: readonly PlanIssue[] = [
    ...unknown.map((v): PlanIssue => ({ code: "unknown-machine", message: `VM ${v} is not a machine of range ${range.id}` })),
    ...(vmids === undefined ? [] : hidden.map(hiddenIssue)),
  ]
  if (issues.length > 0) return Result.fail(issues)
  const steps = chosen.flatMap((o) => powerStep(o, change))
  return Result.succeed({
    rangeId: range.id,
    steps,
    changes: chosen.map((o) => changeOf(o, change, steps)),
    placements: [],
    allocations: [],
    notes: [...doubtNotes(world), ...hidden.map((u) => `${u.message}: it is left as it is`)],
    criticalPathSeconds: criticalPath(steps).seconds,
  })
}

const hiddenIssue = ({ code, message }: Unreadable): PlanIssue => ({
  code,
  message,
  hint: code === "unsure" ? unsureHint : "Bring the node back, or name only the other machines.",
})

const powerStep = (own: OwnMachine, change: PowerChange): readonly Step[] => {
  const { machine } = own.mark
  const { power } = own.observed
  const base = { machine, tag: undefined, after: [] } as const
  if (change === "on") {
    const settle = own.owed === undefined ? [] : [{ ...base, ...owedStep(own, own.owed) }]
    if (power === "running" || power === "paused") return settle
    return [
      ...settle,
      {
        ...base,
        key: `start:${machine}`,
        title: `Start ${machine}`,
        action: { kind: "start", machine: refOf(own), untilAgent: false },
        after: settle.map(({ key }) => key),
        uses: [bootUse(own.observed.node)],
        estimate: timing.startOnly,
      },
    ]
  }
  if (power === "stopped") return []
  if (change === "off" || power !== "running") return [{ ...base, ...stopStep(own, []) }]
  return [
    {
      ...base,
      key: `shutdown:${machine}`,
      title: `Shut down ${machine}`,
      action: { kind: "shutdown", machine: refOf(own), timeoutSeconds: shutdownPatience },
      uses: [],
      // its system is not known here
      estimate: timing.shutdown.windows,
    },
  ]
}

const changeOf = (own: OwnMachine, change: PowerChange, steps: readonly Step[]): Change => {
  const object = own.mark.machine
  const acts = steps.some((s) => s.machine === object)
  const reason = change === "on" ? "power on" : "power off"
  return { kind: acts ? "change" : "none", object, reasons: acts ? [reason] : [] }
}
