import * as Result from "effect/Result"
import type { Vmid } from "../access/ids.ts"
import type { Disguise, Disguises } from "../machine/disguise.ts"
import { canBeKept } from "../machine/hardware.ts"
import { isRouter } from "../machine/router.ts"
import { renderName } from "../range/config/index.ts"
import type { Action } from "./action.ts"
import { planDeploy } from "./deploy.ts"
import { keepOnly } from "./graph.ts"
import { identify, labelOf, type OwnMachine, unsureHint } from "./identify.ts"
import { type DeployInput, wholeDeploy } from "./input.ts"
import type { PlanIssue } from "./issue.ts"
import type { Plan, Step } from "./plan.ts"
import { type Refusal, refusalStep } from "./refusal.ts"
import { criticalPath } from "./schedule.ts"
import { stageKey } from "./stage-keys.ts"

export interface AntiSandboxInput {
  /** Everything that a deploy of the last deployed configuration is planned from, templates included. */
  readonly deploy: Omit<DeployInput, "choice">
  readonly vmids: readonly Vmid[]
  /** Undefined: their disguises are removed. */
  readonly disguise: Disguise | undefined
}

/** The step that records which machines are disguised. */
export const recordDisguisesKey = "record-disguises"

/**
 * Plans to disguise machines, or to remove their disguises. It records what is wanted, and then does exactly the part of a deploy that
 * concerns it: a later deploy finds nothing to do, or finishes what failed. A machine that cannot be disguised is refused by a step of its
 * own.
 */
export const planAntiSandbox = (input: AntiSandboxInput): Result.Result<Plan, readonly PlanIssue[]> => {
  const { deploy, vmids, disguise } = input
  const found = vmids.map((vmid) => chosen(deploy, vmid, disguise !== undefined))
  const refused = found.filter((one) => "because" in one)
  const names = found.flatMap((one) => ("because" in one ? [] : [one.mark.machine]))
  const disguises = changed(deploy.range.disguises ?? {}, names, disguise)
  const planned: Result.Result<Plan, readonly PlanIssue[]> =
    names.length === 0
      ? Result.succeed(nothing(deploy))
      : planDeploy({ ...deploy, range: { ...deploy.range, disguises }, choice: { ...wholeDeploy, limit: names.join(",") } })
  return Result.map(planned, (plan) => {
    const work = keepOnly(plan.steps, (step) => isAboutDisguise(step, new Set(names)))
    const record: Step = {
      key: recordDisguisesKey,
      title: "Record which machines are disguised",
      tag: undefined,
      machine: undefined,
      action: { kind: "record-disguises", rangeId: deploy.range.id, disguises },
      after: [],
      uses: [],
      estimate: 0,
    }
    const steps = [
      ...refused.map(refusalStep),
      ...(names.length === 0 ? [] : [record]),
      ...work.map((step) => (step.after.length === 0 ? { ...step, after: [record.key] } : step)),
    ]
    return {
      ...plan,
      steps,
      changes: [
        ...refused.map(({ vmid, machine, because }) => ({
          kind: "keep" as const,
          object: machine ?? `VM ${vmid}`,
          reasons: [because],
        })),
        ...plan.changes.filter(({ object }) => names.includes(object)),
      ],
      placements: [],
      allocations: [],
      kept: [],
      notes: notesFor(input, work, names),
      criticalPathSeconds: criticalPath(steps).seconds,
    }
  })
}

const nothing = ({ range }: AntiSandboxInput["deploy"]): Plan => ({
  rangeId: range.id,
  steps: [],
  changes: [],
  placements: [],
  allocations: [],
  notes: [],
  criticalPathSeconds: 0,
})

const changed = (before: Disguises, names: readonly string[], disguise: Disguise | undefined): Disguises => ({
  ...Object.fromEntries(Object.entries(before).filter(([name]) => !names.includes(name))),
  ...(disguise === undefined ? {} : Object.fromEntries(names.map((name) => [name, disguise]))),
})

const restarts: ReadonlySet<Action["kind"]> = new Set(["shutdown", "configure", "start"])

/** The part of a deploy that concerns disguises: hardware, the address that a new card lacks, and what Windows itself shows. */
const isAboutDisguise = ({ machine, action }: Step, names: ReadonlySet<string>): boolean =>
  machine !== undefined &&
  names.has(machine) &&
  (restarts.has(action.kind) || (action.kind === "guest" && (action.stage === "address" || action.stage === "anti-sandbox")))

const chosen = ({ range, config, world }: AntiSandboxInput["deploy"], vmid: Vmid, isOn: boolean): OwnMachine | Refusal => {
  const found = identify(range.id, world)
  const refused = (machine: string | undefined, because: string): Refusal => ({ vmid, machine, because })
  const hidden = found.unreadable.find(({ machine }) => machine.vmid === vmid)
  if (hidden !== undefined)
    return refused(hidden.machine.name, hidden.code === "unsure" ? `${hidden.message}. ${unsureHint}` : hidden.message)
  const own = [...found.own.values()].find(({ observed }) => observed.vmid === vmid)
  if (own === undefined) return refused(undefined, `VM ${vmid} is not a machine of range ${range.id}, or does not carry its mark`)
  const { observed, detail, mark } = own
  const label = labelOf(observed)
  if (isRouter(observed, range.id))
    return refused(mark.machine, `${label} is the router of the range, and only machines with Windows can be disguised`)
  const configured = config.machines.find(({ name }) => renderName(name, { rangeId: range.id }) === mark.machine)
  if (configured === undefined)
    return refused(mark.machine, `${label} is not in the configuration that was deployed last. Deploy the range with it first`)
  if (configured.os.kind !== "windows")
    return refused(
      mark.machine,
      `${label} does not run Windows according to the configuration, and only Windows can be disguised`,
    )
  if (detail.lock !== undefined)
    return refused(
      mark.machine,
      `${label} is locked on the hypervisor (${detail.lock}): something else is working on it. Try again when that has finished`,
    )
  if (observed.power !== "running")
    return refused(
      mark.machine,
      `${label} is not running (it is ${observed.power}), and ${isOn ? "a disguise" : "the original settings of Windows"} has to be applied while it runs. Power it on first`,
    )
  if (isOn && mark.undisguised === undefined && detail.hardware !== undefined && !canBeKept(detail.hardware))
    return refused(
      mark.machine,
      `${label} has hardware settings that cannot be saved for restoring: its processor option or a text of its system table or disks is too long, or contains control characters. Change it on the hypervisor first`,
    )
  return own
}

/** What the caller should know even when everything succeeds. */
const notesFor = ({ deploy, disguise }: AntiSandboxInput, work: readonly Step[], names: readonly string[]): readonly string[] => {
  if (names.length === 0) return []
  const inside = new Set(work.flatMap(({ key }) => key))
  const stages = deploy.world.stages
  const left = names.filter(
    (name) =>
      !inside.has(stageKey("anti-sandbox", name)) &&
      disguise !== undefined &&
      ![...stages.values()].some((done) => done.has(stageKey("anti-sandbox", name))),
  )
  return [
    ...(disguise === undefined ? [] : (deploy.world.disguiseMeans?.lacks ?? [])),
    ...left.map(
      (name) =>
        `${name}: nothing is changed inside Windows: ${deploy.settings.guestsLeftOut ? "this service is configured to do nothing inside machines" : "its configuration says unmanaged"}`,
    ),
  ]
}
