import type { Vmid } from "../access/ids.ts"
import type { ObservedStorage } from "../machine/observed.ts"
import type { ResourceUse } from "./plan.ts"
import { slots } from "./timing.ts"
import type { PlanWorld } from "./world.ts"

/** A VM that machines can be cloned from. */
export interface Template {
  readonly vmid: Vmid
  readonly node: string
  readonly name: string
  /** Storage of its disk; undefined when its detail was not read. */
  readonly storage: string | undefined
  /** True: every node sees its disk, so that clones may go to any of them. */
  readonly shared: boolean
}

/** Templates with this name on nodes that are up: ascending by VMID. */
export const templatesNamed = (world: PlanWorld, name: string): readonly Template[] => {
  const online = new Set(world.cluster.nodes.filter((n) => n.online).map((n) => n.name))
  return world.cluster.machines
    .filter((m) => m.template && m.name === name && online.has(m.node))
    .toSorted((a, b) => a.vmid - b.vmid)
    .map((m) => {
      const storage = world.details.get(m.vmid)?.storage
      return { vmid: m.vmid, node: m.node, name, storage, shared: storageOf(world, storage, m.node)?.shared ?? false }
    })
}

const storageOf = (world: PlanWorld, name: string | undefined, node: string): ObservedStorage | undefined =>
  world.cluster.storages.find((s) => s.name === name && s.node === node)

/** The template to clone from onto this node: one that lives there, else one whose disk the node sees too. */
export const templateFor = (templates: readonly Template[], node: string): Template | undefined =>
  templates.find((t) => t.node === node) ?? templates.find((t) => t.shared)

/** The storage that a clone works on. Clones of one storage wait for its lock: a shared one has one lock for all nodes. */
export const cloneResource = (world: PlanWorld, template: Template, node: string, target: string | undefined): ResourceUse => {
  const storage = target ?? template.storage
  const shared = target === undefined ? template.shared : (storageOf(world, target, node)?.shared ?? false)
  const place = shared && storage !== undefined ? storage : storage === undefined ? node : `${node}/${storage}`
  return { resource: `clone@${place}`, slots: slots.clone }
}
