import * as Result from "effect/Result"
import type { RangeId, Vmid } from "../access/ids.ts"
import type { NetworkSpec } from "./action.ts"
import { networkOf } from "./desired.ts"
import { type Identified, identify, labelOf, type OwnMachine, unsureHint } from "./identify.ts"
import type { PlanIssue } from "./issue.ts"
import { removeSteps } from "./machine-steps.ts"
import { doubtNotes } from "./plan-notes.ts"
import type { Change, Plan, Step } from "./plan.ts"
import { singleNode } from "./placement.ts"
import { criticalPath } from "./schedule.ts"
import { findNetwork } from "./obstacles.ts"
import { timing } from "./timing.ts"
import type { PlanSettings, PlanWorld } from "./world.ts"

/** What is removed: all VMs; the whole range with its networks and pool; or one VM. */
export type DestroyScope =
  | { readonly kind: "machines" }
  | { readonly kind: "range" }
  | { readonly kind: "machine"; readonly vmid: Vmid }

export interface DestroyInput {
  readonly range: { readonly id: RangeId; readonly number: number }
  readonly settings: PlanSettings
  readonly world: PlanWorld
  readonly scope: DestroyScope
}

/**
 * Plans to remove VMs of a range, each stopped first if it may be running. What is not ours stays, and then the pool cannot be removed. A
 * VM on a node that is down cannot be removed either; nothing is begun then.
 */
export const planDestroy = (input: DestroyInput): Result.Result<Plan, readonly PlanIssue[]> => {
  const found = identify(input.range.id, input.world)
  const issues = issuesOf(input, found)
  if (issues.length > 0) return Result.fail(issues)
  const { scope } = input
  const machines = [...found.own.values()].filter((own) => scope.kind !== "machine" || own.observed.vmid === scope.vmid)
  const removals = machines.flatMap((own) =>
    removeSteps(own, input.world).map((step): Step => ({ ...step, machine: own.mark.machine, tag: undefined })),
  )
  const deletes = removals.filter((s) => s.action.kind === "delete").map((s) => s.key)
  const rest = scope.kind === "range" ? rangeSteps(input, deletes) : { steps: [], changes: [], notes: [] }
  const steps = [...removals, ...rest.steps]
  return Result.succeed({
    rangeId: input.range.id,
    steps,
    changes: [...machines.map(removal), ...rest.changes],
    placements: [],
    allocations: [],
    notes: [
      ...doubtNotes(input.world),
      ...found.foreign.map((f) => `${labelOf(f.machine)} is in the range's pool and is never changed: ${f.why}`),
      ...rest.notes,
    ],
    criticalPathSeconds: criticalPath(steps).seconds,
  })
}

const removal = (own: OwnMachine): Change => ({ kind: "remove", object: own.mark.machine, reasons: ["requested"] })

const issuesOf = ({ scope, range, world }: DestroyInput, found: Identified): readonly PlanIssue[] => {
  const unreadable = found.unreadable.filter((u) => scope.kind !== "machine" || u.machine.vmid === scope.vmid)
  const issues = unreadable.map(({ code, message }): PlanIssue => ({
    code,
    message,
    hint: code === "unsure" ? unsureHint : "Bring the node back, or remove the VM on the hypervisor.",
  }))
  if (scope.kind === "range")
    for (const f of found.foreign)
      issues.push({
        code: "not-ours",
        message: `${labelOf(f.machine)} is in the pool ${range.id} but is not ours: ${f.why}`,
        hint: "Move it out of the pool: the service never changes it.",
      })
  if (scope.kind === "machine" && unreadable.length === 0 && !isOwn(found, scope.vmid))
    issues.push(
      world.cluster.machines.some((m) => m.vmid === scope.vmid)
        ? { code: "not-ours", message: `VM ${scope.vmid} is not a machine of range ${range.id}` }
        : { code: "unknown-machine", message: `VM ${scope.vmid} does not exist` },
    )
  return issues
}

const isOwn = ({ own }: Identified, vmid: Vmid): boolean => [...own.values()].some((o) => o.observed.vmid === vmid)

/** Networks that a range can have: the bridge and the VNet of its number. They may have been made before the mode was changed. */
const networksOf = ({ range, settings, world }: DestroyInput): readonly NetworkSpec[] =>
  [false, true].map((clusterMode) => networkOf(range, { ...settings, clusterMode }, singleNode(world, settings) ?? ""))

/** Networks and pool are removed after the last VM. */
const rangeSteps = (
  input: DestroyInput,
  after: readonly string[],
): { readonly steps: readonly Step[]; readonly changes: readonly Change[]; readonly notes: readonly string[] } => {
  const { range, world } = input
  const base = { tag: undefined, machine: undefined, after, uses: [] } as const
  const steps: Step[] = []
  const changes: Change[] = []
  const notes: string[] = []
  const remove = (object: string, step: Pick<Step, "key" | "action" | "estimate">): void => {
    steps.push({ ...base, ...step, title: `Remove ${object}` })
    changes.push({ kind: "remove", object, reasons: ["the range is deleted"] })
  }
  for (const network of networksOf(input)) {
    const observed = findNetwork(world.networks, network)
    if (observed?.ours === true)
      remove(`network ${network.name}`, {
        key: `remove-network:${network.name}`,
        action: { kind: "remove-network", network },
        estimate: network.type === "vnet" ? timing.vnet : timing.bridge,
      })
    if (observed?.ours === false) notes.push(`the network ${network.name} is not ours, so it stays`)
  }
  if (world.poolExists)
    remove(`pool ${range.id}`, {
      key: "remove-pool",
      action: { kind: "remove-pool", poolId: range.id },
      estimate: timing.pool,
    })
  return { steps, changes, notes }
}
