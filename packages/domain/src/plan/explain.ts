import type { Change, ChangeKind, Plan } from "./plan.ts"
import { isFromEarlierRuns } from "./durations.ts"
import { simulateSchedule } from "./schedule.ts"

const signs: Readonly<Record<ChangeKind, string>> = {
  create: "+",
  change: "~",
  replace: "-/+",
  remove: "-",
  keep: "=",
  none: " ",
}
const verbs: readonly (readonly [ChangeKind, string])[] = [
  ["create", "to create"],
  ["change", "to change"],
  ["replace", "to replace"],
  ["remove", "to remove"],
  ["keep", "kept"],
  ["none", "unchanged"],
]

/** A plan as text for people: what happens to each object and why, where machines go, and how long it takes. Contains no secret. */
export const renderPlan = (plan: Plan): string => {
  const counted = verbs.flatMap(([kind, verb]) => {
    const n = plan.changes.filter((c) => c.kind === kind).length
    return n === 0 ? [] : [`${n} ${verb}`]
  })
  const shown = plan.changes.filter((c) => c.kind !== "none")
  const width = Math.max(0, ...shown.map((c) => c.object.length))
  const whom = plan.rangeId === undefined ? "" : ` for range ${plan.rangeId}`
  const kept = plan.kept?.length ?? 0
  const idle =
    kept === 0
      ? `Nothing to do${whom}: everything is as configured.`
      : `Nothing to do${whom}, but ${kept === 1 ? "1 machine is" : `${kept} machines are`} kept although not as configured:`
  const lines = [
    plan.steps.length === 0 ? idle : `Plan${whom}: ${counted.join(", ")}`,
    ...shown.flatMap((change) => [changeLine(change, width), ...placeLine(plan, change, width)]),
    ...(plan.steps.length === 0 ? [] : [timeLine(plan)]),
    ...rolesLine(plan),
    ...(plan.notes.length === 0 ? [] : ["Notes:", ...plan.notes.map((n) => `  ! ${n}`)]),
  ]
  return `${lines.join("\n")}\n`
}

const changeLine = ({ kind, object, reasons }: Change, width: number): string =>
  `  ${signs[kind].padStart(3)} ${object.padEnd(width)}  ${reasons.join("; ")}`.trimEnd()

/** Where a new VM goes, and why. */
const placeLine = (plan: Plan, { kind, object }: Change, width: number): readonly string[] => {
  if (kind !== "create" && kind !== "replace") return []
  const placed = plan.placements.find((p) => p.machine === object)
  const given = plan.allocations.find((a) => a.machine === object)
  if (placed === undefined || given === undefined) return []
  const address = given.address === undefined ? "" : `, ${given.address}`
  return [`      ${"".padEnd(width)}  VM ${given.vmid} on ${placed.node} (${placed.reason})${address}`]
}

const timeLine = (plan: Plan): string => {
  const { makespan } = simulateSchedule(plan)
  const count = plan.steps.length === 1 ? "1 step" : `${plan.steps.length} steps`
  const basis = isFromEarlierRuns(plan.steps) ? ", from earlier runs" : ""
  return `${count}, about ${secondsText(makespan)}${basis} (the longest chain alone takes ${secondsText(plan.criticalPathSeconds)})`
}

/** What ordering roles by their dependencies saves, or would save. */
const rolesLine = ({ roles }: Plan): readonly string[] => {
  if (roles === undefined || roles.graphSavesSeconds < 1) return []
  const saved = secondsText(roles.graphSavesSeconds)
  return roles.sequence === "file"
    ? [
        `Roles run one after another in the order of the file; ordered only by their dependencies (role_order: graph) it would take ${saved} less`,
      ]
    : [
        `Roles are ordered only by their dependencies, which takes ${saved} less than running them one after another in the order of the file`,
      ]
}

/** `45 s`, `12 min 5 s`, `1 h 3 min`. */
export const secondsText = (seconds: number): string => {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole} s`
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60), whole % 60]
  if (hours > 0) return minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`
  return rest === 0 ? `${minutes} min` : `${minutes} min ${rest} s`
}
