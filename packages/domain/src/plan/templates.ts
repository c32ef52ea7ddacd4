import type { RangeId, Vmid } from "../access/ids.ts"
import type { ObservedMachine, ObservedStorage } from "../machine/observed.ts"
import { isFinishedTemplate } from "../template/known-templates.ts"
import type { ResourceUse } from "./plan.ts"
import { slots } from "./timing.ts"
import type { PlanWorld } from "./world.ts"

/** A VM that machines can be cloned from. */
export interface Template {
  readonly vmid: Vmid
  readonly node: string
  readonly name: string
  /** Storage of its disk; undefined when its details were not read. */
  readonly storage: string | undefined
  /** True: several nodes share its storage, so that clones may go to any of those. */
  readonly shared: boolean
}

/** Whether the VM is in another range's pool: what that range's users make, even if they call it a template, is not for others. */
const isOthers = ({ otherRanges = [] }: PlanWorld, { pool }: ObservedMachine): boolean =>
  otherRanges.some(({ id }) => id === pool)

/** Templates with this name on online nodes, without those in other ranges' pools: ascending by VMID. */
export const templatesNamed = (world: PlanWorld, name: string): readonly Template[] => {
  const online = new Set(world.cluster.nodes.filter((n) => n.online).map((n) => n.name))
  return world.cluster.machines
    .filter((m) => isFinishedTemplate(m) && m.name === name && online.has(m.node) && !isOthers(world, m))
    .toSorted((a, b) => a.vmid - b.vmid)
    .map((m) => {
      const storage = world.details.get(m.vmid)?.storage
      return { vmid: m.vmid, node: m.node, name, storage, shared: storageOf(world, storage, m.node)?.shared ?? false }
    })
}

/** Whether a template of this name is one for all ranges: those in a range's own pool belong to it alone. */
export const isEverybodys = (world: PlanWorld, rangeId: RangeId, name: string | undefined): boolean =>
  world.cluster.machines.some((m) => isFinishedTemplate(m) && m.name === name && m.pool !== rangeId && !isOthers(world, m))

/** The offline node that has a template of this name, which therefore cannot be cloned; undefined when there is none. */
export const offlineHolder = (world: PlanWorld, name: string): string | undefined => {
  const offline = new Set(world.cluster.nodes.filter((n) => !n.online).map((n) => n.name))
  // for a VM on an offline node, it is not known whether it is a template
  return world.cluster.machines.find((m) => m.name === name && offline.has(m.node) && !isOthers(world, m))?.node
}

const storageOf = (world: PlanWorld, name: string | undefined, node: string): ObservedStorage | undefined =>
  world.cluster.storages.find((s) => s.name === name && s.node === node)

/** Why the template cannot be cloned to the node; undefined when it can. `target`: the storage of a full clone. */
export const hindrance = (world: PlanWorld, template: Template, node: string, target: string | undefined): string | undefined => {
  const isHere = template.node === node
  const has = (storage: string | undefined): boolean => storageOf(world, storage, node)?.active === true
  if (!isHere && !template.shared) return `it is on ${template.node}, and its disk is not on shared storage`
  if (!isHere && !has(template.storage)) return `its disk is on the storage ${template.storage}, which ${node} does not have`
  if (target === undefined) return undefined
  if (!has(target)) return `full clones go to the storage ${target}, which ${node} does not have`
  if (!isHere && storageOf(world, target, node)?.shared !== true)
    return `it is on ${template.node}, and full clones go to the storage ${target}, which is not shared`
  return undefined
}

/** The template to clone from to this node: one on the node itself, else one whose disk the node can reach. */
export const templateFor = (
  world: PlanWorld,
  templates: readonly Template[],
  node: string,
  target: string | undefined,
): Template | undefined =>
  templates
    .toSorted((a, b) => Number(b.node === node) - Number(a.node === node))
    .find((template) => hindrance(world, template, node, target) === undefined)

/** The storage that a clone works on. Clones on one storage wait for its lock: a shared one has one lock for all nodes. */
export const cloneResource = (world: PlanWorld, template: Template, node: string, target: string | undefined): ResourceUse => {
  const storage = target ?? template.storage
  const shared = target === undefined ? template.shared : (storageOf(world, target, node)?.shared ?? false)
  const place = shared && storage !== undefined ? storage : storage === undefined ? node : `${node}/${storage}`
  return { resource: `clone@${place}`, slots: slots.clone }
}
