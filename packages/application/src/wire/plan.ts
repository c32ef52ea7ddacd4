import { isFromEarlierRuns, renderPlan, roleSequences, type Change, type Plan, type Step } from "@rangewright/domain"
import * as Schema from "effect/Schema"

/** `file`: one after another as in the file, after all other work in machines. `graph`: as soon as their dependencies are done. */
export const RoleOrder = Schema.Literals(roleSequences)

export const PlanChange = Schema.Struct({
  kind: Schema.Literals(["create", "change", "replace", "remove", "keep", "none"]),
  object: Schema.String,
  reasons: Schema.Array(Schema.String),
}).annotate({ identifier: "PlanChange" })

/** A step for display, without its input inside the guest, which may contain passwords. */
export const PlanStep = Schema.Struct({
  key: Schema.String,
  title: Schema.String,
  tag: Schema.optionalKey(Schema.String),
  machine: Schema.optionalKey(Schema.String),
  action: Schema.String,
  after: Schema.Array(Schema.String),
  /** Steps that must be over before, however they ended. */
  behind: Schema.optionalKey(Schema.Array(Schema.String)),
  estimateSeconds: Schema.Number,
  /** The estimate comes from earlier runs. Absent: it is a first guess. */
  fromEarlierRuns: Schema.optionalKey(Schema.Literal(true)),
  /** Its failure stops nothing: the run then ends as partial. */
  tolerated: Schema.optionalKey(Schema.Boolean),
}).annotate({ identifier: "PlanStep" })

export const PlanObject = Schema.Struct({
  /** For plans of a range. */
  rangeID: Schema.optionalKey(Schema.String),
  /** The whole plan for people. */
  text: Schema.String,
  changes: Schema.Array(PlanChange),
  steps: Schema.Array(PlanStep),
  placements: Schema.Array(Schema.Struct({ machine: Schema.String, node: Schema.String, reason: Schema.String })),
  allocations: Schema.Array(
    Schema.Struct({
      machine: Schema.String,
      proxmoxID: Schema.Int,
      node: Schema.String,
      address: Schema.optionalKey(Schema.String),
    }),
  ),
  notes: Schema.Array(Schema.String),
  /** To do exactly this: POST /range/deploy with this as `confirm`. Only in requested plans. */
  confirm: Schema.optionalKey(Schema.String),
  /** Length of the critical path, by the estimates of its steps. */
  estimateSeconds: Schema.Number,
  /** At least half of that comes from earlier runs. Absent: it is a first guess. */
  fromEarlierRuns: Schema.optionalKey(Schema.Literal(true)),
  /** How the roles of machines run; absent if there are none. */
  roles: Schema.optionalKey(
    Schema.Struct({
      role_order: RoleOrder,
      /** What the graph saves, or would save, by the estimates of the steps. */
      graphSavesSeconds: Schema.Number,
    }),
  ),
}).annotate({ identifier: "Plan" })

const actionName = ({ action }: Step): string => {
  if (action.kind === "guest") return `guest ${action.stage}`
  return action.kind === "work" ? action.work : action.kind
}

export const planStep = (step: Step): typeof PlanStep.Type => ({
  key: step.key,
  title: step.title,
  ...(step.tag === undefined ? {} : { tag: step.tag }),
  ...(step.machine === undefined ? {} : { machine: step.machine }),
  action: actionName(step),
  after: step.after,
  ...(step.behind === undefined ? {} : { behind: step.behind }),
  estimateSeconds: step.estimate,
  ...(step.learned === undefined ? {} : { fromEarlierRuns: step.learned }),
  ...(step.tolerated === undefined ? {} : { tolerated: step.tolerated }),
})

export const planObject = (plan: Plan, confirm?: string): typeof PlanObject.Type => ({
  ...(plan.rangeId === undefined ? {} : { rangeID: plan.rangeId }),
  text: renderPlan(plan),
  changes: plan.changes,
  steps: plan.steps.map(planStep),
  placements: plan.placements,
  allocations: plan.allocations.map(({ machine, vmid, node, address }) => ({
    machine,
    proxmoxID: vmid,
    node,
    ...(address === undefined ? {} : { address }),
  })),
  notes: plan.notes,
  ...(confirm === undefined ? {} : { confirm }),
  estimateSeconds: tenths(plan.criticalPathSeconds),
  ...(isFromEarlierRuns(plan.steps) ? { fromEarlierRuns: true } : {}),
  ...(plan.roles === undefined
    ? {}
    : { roles: { role_order: plan.roles.sequence, graphSavesSeconds: tenths(plan.roles.graphSavesSeconds) } }),
})

/** Without the noise of sums. */
export const tenths = (seconds: number): number => Math.round(seconds * 10) / 10

/** `2 to create, 1 to change`; unchanged objects are not counted. */
export const changeCounts = (changes: readonly Change[]): string => {
  const counts = (["create", "change", "replace", "remove"] as const).flatMap((kind) => {
    const count = changes.filter((change) => change.kind === kind).length
    return count === 0 ? [] : [`${count} to ${kind}`]
  })
  const kept = changes.filter(({ kind }) => kind === "keep").length
  return [...(counts.length === 0 ? ["nothing to change"] : counts), ...(kept === 0 ? [] : [`${kept} kept`])].join(", ")
}
