import type { ObservedNode } from "../machine/observed.ts"
import type { Difference } from "./differences.ts"
import { keptReason } from "./kept.ts"
import type { Change, KeptMachine } from "./plan.ts"
import type { Task } from "./task.ts"

/** What is known about one object besides its steps. */
export interface ObjectFacts {
  readonly name: string
  readonly differences: readonly Difference[]
  /** Name of the template that the VM was made from, when another one replaces it. */
  readonly replacedTemplate?: string | undefined
  readonly template?: string | undefined
  /** Not as configured, and left as it is. */
  readonly kept?: KeptMachine | undefined
}

/** What its tasks do to one machine, for people. */
export const changeOf = (facts: ObjectFacts, own: readonly Task[]): Change => {
  const kinds = new Set(own.map((t) => t.action.kind))
  const stages = own.flatMap(({ action, role }) =>
    action.kind === "guest" ? [role === undefined ? action.stage : `role ${role}`] : [],
  )
  const inside = stages.length === 0 ? [] : [`stages: ${stages.join(", ")}`]
  const object = facts.name
  if (kinds.has("clone"))
    return facts.replacedTemplate === undefined
      ? { kind: "create", object, reasons: [`from ${facts.template}`, ...inside] }
      : { kind: "replace", object, reasons: [`template ${facts.replacedTemplate} -> ${facts.template}`, ...inside] }
  const reasons = [
    ...(kinds.has("configure") ? facts.differences.map((d) => `${d.field} ${d.observed || "none"} -> ${d.desired}`) : []),
    ...(kinds.has("shutdown") ? ["restart"] : kinds.has("start") ? ["power on"] : []),
    ...inside,
  ]
  const stays = facts.kept === undefined ? [] : [keptReason(facts.kept)]
  const kind = reasons.length > 0 ? "change" : stays.length > 0 ? "keep" : "none"
  return { kind, object, reasons: [...reasons, ...stays] }
}

type Memory = readonly { readonly node: string; readonly memoryMiB: number }[]

/** Nodes whose memory the plan would overcommit. `reserved`: what other runs have planned for them. */
export const overcommitted = (nodes: readonly ObservedNode[], added: Memory, reserved: Memory = []): readonly string[] => {
  const sumOn = (node: string, some: Memory): number =>
    some.reduce((sum, one) => sum + (one.node === node ? one.memoryMiB : 0), 0)
  return nodes.flatMap(({ name, memoryMiB, memoryUsedMiB }) => {
    const more = sumOn(name, added)
    const all = memoryUsedMiB + sumOn(name, reserved) + more
    return more > 0 && all > memoryMiB ? [`${name}: ${all} MiB of memory are in use or planned, but it has ${memoryMiB} MiB`] : []
  })
}
