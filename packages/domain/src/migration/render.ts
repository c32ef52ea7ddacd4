import { defineFault } from "../fault/fault.ts"
import { secondsText } from "../plan/explain.ts"
import type { MigrationActionKind } from "./action.ts"
import { nicNetwork } from "./nic.ts"
import type { MachineMove, MigrationDirection, MigrationPlan, MigrationStep } from "./plan.ts"

/** A migration that cannot begin; nothing was changed. Its message and its issues list all blockers. */
export class MigrationBlocked extends defineFault(
  "MigrationBlocked",
  "conflict",
  (f: Pick<MigrationPlan, "direction" | "blockers">) => ({
    message: `Cannot ${doing[f.direction]}: ${f.blockers.map(({ message, hint }) => `${message}. ${hint}`).join(" ")}`,
    hint: "Nothing was changed. Fix these and start again.",
    issues: f.blockers.map(({ code, message, hint }) => ({ path: code, message: `${message}. ${hint}` })),
  }),
) {}

const doing: Readonly<Record<MigrationDirection, string>> = {
  "to-sdn": "migrate to SDN networking",
  "to-bridges": "return to bridges",
}

/** Why there is nothing to do, for people. */
export const idleText = ({ direction, idle }: Pick<MigrationPlan, "direction" | "idle">): string | undefined => {
  if (idle === undefined) return undefined
  if (idle === "single-node")
    return "Not in cluster mode: a single node's ranges stay on its bridges, and there is nothing to migrate."
  return direction === "to-sdn"
    ? "Nothing to migrate: every network of ours is a VNet, and no machine is attached to an old bridge."
    : "Nothing to return: no machine of ours is attached to a VNet."
}

const signs: Readonly<Partial<Record<MigrationActionKind, string>>> = {
  "create-zone": "+",
  "create-vnet": "+",
  "create-bridge": "+",
  "remove-zone": "-",
  "remove-vnet": "-",
  "remove-bridge": "-",
  "grant-vnet": "~",
  "host-address": "~",
  "range-route": "~",
  "leave-host": "~",
}

/** A migration's plan as text: the same for the command line, the API and embedders. */
export const renderMigration = (plan: MigrationPlan): string => {
  const idle = idleText(plan)
  const byHand = listLines("By hand, afterwards:", plan.byHand)
  if (idle !== undefined) return `${[idle, ...byHand].join("\n")}\n`
  const blocked = plan.blockers.length > 0
  const lines = [
    blocked ? blockedHeading(plan) : `Plan to ${doing[plan.direction]}: ${countsText(plan)}, about ${secondsText(plan.estimate)}`,
    ...plan.blockers.flatMap(({ message, hint }) => [`    x ${message}`, `      ${hint}`]),
    ...plan.steps.flatMap(stepLine),
    ...(plan.machines.length === 0 ? [] : [blocked ? "Machines that would move:" : "Machines that move:"]),
    ...plan.machines.map(machineLine),
    ...listLines("Before you start:", plan.warnings),
    ...byHand,
  ]
  return `${lines.join("\n")}\n`
}

const blockedHeading = ({ direction, blockers }: MigrationPlan): string =>
  `Cannot ${doing[direction]}: ${blockers.length === 1 ? "one thing prevents" : `${blockers.length} things prevent`} it, and nothing was changed`

/** `2 networks to create, 9 machines to move, 2 networks to remove`. */
const countsText = ({ steps, machines }: MigrationPlan): string => {
  const count = (...kinds: readonly MigrationActionKind[]): number =>
    steps.filter(({ action }) => kinds.includes(action.kind)).length
  const part = (n: number, one: string, verb: string): readonly string[] =>
    n === 0 ? [] : [`${n} ${n === 1 ? one : `${one}s`} to ${verb}`]
  const parts = [
    ...part(count("create-vnet", "create-bridge"), "network", "create"),
    ...part(machines.length, "machine", "move"),
    ...part(count("remove-vnet", "remove-bridge"), "network", "remove"),
  ]
  return parts.length === 0 ? `${steps.length} ${steps.length === 1 ? "step" : "steps"}` : parts.join(", ")
}

const stepLine = ({ action, title }: MigrationStep): readonly string[] => {
  const sign = signs[action.kind]
  return sign === undefined
    ? []
    : [
        `    ${sign} ${title}${action.kind === "create-zone" ? `, peers ${action.zone.peers.join(",")}, MTU ${action.zone.mtu}` : ""}`,
      ]
}

const machineLine = ({ name, vmid, node, nics }: MachineMove): string => {
  const cards = nics.map(({ nic, before, after }) => `${nic} ${nicNetwork(before) ?? "none"} -> ${nicNetwork(after) ?? "none"}`)
  return `    ~ ${name} (VM ${vmid} on ${node}): ${cards.join(", ")}`
}

const listLines = (heading: string, items: readonly string[]): readonly string[] =>
  items.length === 0 ? [] : [heading, ...items.map((item) => `    ! ${item}`)]
