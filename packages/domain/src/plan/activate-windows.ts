import type { RangeId, Vmid } from "../access/ids.ts"
import type { GuestStage, Json } from "./action.ts"
import { expectedStage } from "./durations.ts"
import { identify, labelOf, type OwnMachine, unsureHint } from "./identify.ts"
import { isRunning, refOf } from "./machine-steps.ts"
import type { Plan, Step } from "./plan.ts"
import { refusalStep } from "./refusal.ts"
import { criticalPath } from "./schedule.ts"
import { stageKey } from "./stage-keys.ts"
import { slots } from "./timing.ts"
import type { PlanWorld } from "./world.ts"

interface Asked {
  readonly range: { readonly id: RangeId }
  readonly world: PlanWorld
}

/** The key that a machine is activated with. The caller's own key is sealed, because plans are journaled. */
export type ActivationKeyInput = { readonly client_license_key: string } | { readonly sealed_license_key: string }

export interface ActivateInput extends Asked {
  readonly host: string
  readonly port: number
  readonly machines: readonly { readonly vmid: Vmid; readonly key: ActivationKeyInput }[]
}

/** The machine with this VMID, or why nothing can be done to it. */
const found = ({ range, world }: Asked, vmid: Vmid): OwnMachine | string => {
  const { own, foreign, unreadable } = identify(range.id, world)
  const hidden = unreadable.find(({ machine }) => machine.vmid === vmid)
  if (hidden !== undefined) return hidden.code === "unsure" ? `${hidden.message}. ${unsureHint}` : hidden.message
  const machine = [...own.values()].find(({ observed }) => observed.vmid === vmid)
  const other = foreign.find((one) => one.machine.vmid === vmid)
  if (machine === undefined)
    return other === undefined
      ? `VM ${vmid} is not a machine of range ${range.id}`
      : `${labelOf(other.machine)} is in the pool of range ${range.id} but is not ours: ${other.why}`
  return isRunning(machine) ? machine : `${labelOf(machine.observed)} is ${machine.observed.power}: power it on`
}

const stepFor = (asked: Asked, vmid: Vmid, stage: Exclude<GuestStage, "role">, title: string, input: Json): Step => {
  const machine = found(asked, vmid)
  const base = { tag: undefined, after: [], tolerated: true } as const
  if (typeof machine === "string") return refusalStep({ vmid, machine: undefined, because: machine })
  const { mark } = machine
  return {
    ...base,
    key: stageKey(stage, mark.machine),
    title: `${title} ${mark.machine}`,
    machine: mark.machine,
    action: { kind: "guest", machine: refOf(machine), os: "windows", stage, input },
    uses: [{ resource: "automation", slots: slots.automation, ofHost: true }],
    ...expectedStage(asked.world, { stage, os: "windows" }),
  }
}

const planOf = ({ range }: Asked, steps: readonly Step[], reason: string): Plan => ({
  rangeId: range.id,
  steps,
  changes: steps.flatMap(({ machine }) =>
    machine === undefined ? [] : [{ kind: "change" as const, object: machine, reasons: [reason] }],
  ),
  placements: [],
  allocations: [],
  notes: [],
  criticalPathSeconds: criticalPath(steps).seconds,
})

/** Plans to point machines to a KMS host and activate them, in a step each. A machine that is no longer running is refused by its step. */
export const planActivateWindows = ({ machines, host, port, ...asked }: ActivateInput): Plan =>
  planOf(
    asked,
    machines.map(({ vmid, key }) => stepFor(asked, vmid, "activate-windows", "Activate Windows on", { host, port, ...key })),
    "activation of Windows",
  )

/** Plans to make a machine with Windows Server a KMS host. The plan does not contain the key. */
export const planKmsServer = ({ vmid, ...asked }: Asked & { readonly vmid: Vmid }): Plan =>
  planOf(asked, [stepFor(asked, vmid, "kms-server", "Set up a KMS host on", {})], "KMS host")
