import type { RangeId, Vmid } from "../access/ids.ts"
import { type MachineMark, readDescription } from "../machine/mark.ts"
import type { MachineDetail, ObservedMachine } from "../machine/observed.ts"
import type { MachineSettings } from "./action.ts"
import type { PlanWorld } from "./world.ts"

/** A VM that is proven to be ours: a member of the range that carries its mark. */
export interface OwnMachine {
  readonly observed: ObservedMachine
  readonly detail: MachineDetail
  readonly mark: MachineMark
  readonly groups: readonly string[]
  /** After a rollback, while it has the hardware of the snapshot: the settings that it is to get back. */
  readonly owed?: MachineSettings | undefined
}

/** The VMs in a range's pool by owner. Only `own` may ever be touched. */
export interface Identified {
  /** One VM for each machine, by the name in its mark. */
  readonly own: ReadonlyMap<string, OwnMachine>
  /** Without our mark, with another range's, a template, or a second VM that claims to be the same machine. */
  readonly foreign: readonly { readonly machine: ObservedMachine; readonly why: string }[]
  /** Their configuration cannot be read now, so their owner is unknown. */
  readonly unreadable: readonly Unreadable[]
}

export interface Unreadable {
  readonly machine: ObservedMachine
  readonly code: "node-offline" | "unsure" | "not-ours"
  /** Why, as a sentence that names the machine. */
  readonly message: string
}

/** The name of a VM in messages. */
export const labelOf = (machine: Pick<ObservedMachine, "vmid" | "name">): string =>
  machine.name === undefined ? `VM ${machine.vmid}` : `${machine.name} (VM ${machine.vmid})`

export const offlineNodes = (world: PlanWorld): ReadonlySet<string> =>
  new Set(world.cluster.nodes.filter((n) => !n.online).map((n) => n.name))

/**
 * VMs that may belong to a range: those in its pool, and those in no pool with a VMID that is reserved for it, because a clone shows its
 * pool only some seconds later, and because people take VMs out of pools. Their details decide.
 */
export const rangeMembers = (
  rangeId: RangeId,
  { cluster, reservations }: Pick<PlanWorld, "cluster" | "reservations">,
): readonly ObservedMachine[] => {
  const reserved = new Set(reservations.values())
  return cluster.machines.filter((m) => m.pool === rangeId || (m.pool === undefined && reserved.has(m.vmid)))
}

export const identify = (rangeId: RangeId, world: PlanWorld): Identified => {
  const offline = offlineNodes(world)
  const claims = new Map<string, OwnMachine[]>()
  const foreign: { readonly machine: ObservedMachine; readonly why: string }[] = []
  const unreadable: Unreadable[] = []
  const members = rangeMembers(rangeId, world).toSorted((a, b) => a.vmid - b.vmid)
  for (const machine of members) {
    const detail = world.details.get(machine.vmid)
    // outside of the pool, a reserved VMID proves nothing: only the mark does
    if (machine.pool !== rangeId && (detail === undefined || readDescription(detail.description).mark?.range !== rangeId))
      continue
    if (offline.has(machine.node) || detail === undefined) {
      unreadable.push(unreadableFor(machine, world.unsure?.get(machine.vmid), offline.has(machine.node)))
      continue
    }
    const { mark, groups } = readDescription(detail.description)
    if (machine.template || detail.template) foreign.push({ machine, why: "it is a template" })
    else if (mark === undefined) foreign.push({ machine, why: "it does not carry our mark" })
    else if (mark.range !== rangeId) foreign.push({ machine, why: "its mark names another range" })
    else
      claims.set(mark.machine, [
        ...(claims.get(mark.machine) ?? []),
        { observed: machine, detail, mark, groups, owed: world.owed?.get(machine.vmid) },
      ])
  }
  const own = new Map<string, OwnMachine>()
  for (const [name, claimants] of claims) {
    const chosen = chosenOf(claimants, world.reservations.get(name), name)
    if (chosen !== undefined) own.set(name, chosen)
    for (const other of claimants) if (other !== chosen) foreign.push({ machine: other.observed, why: copyText(name, chosen) })
  }
  return { own, foreign, unreadable }
}

const unreadableFor = (machine: ObservedMachine, unsure: string | undefined, isOffline: boolean): Unreadable => {
  const name = labelOf(machine)
  if (unsure !== undefined) return { machine, code: "unsure", message: `it is not known whether ${name} still exists: ${unsure}` }
  return isOffline
    ? { machine, code: "node-offline", message: `${name} is on the node ${machine.node}, which is offline` }
    : { machine, code: "not-ours", message: `${name} cannot be read, so its owner is unknown` }
}

/** The hint for a machine in doubt, which is neither created again nor removed. */
export const unsureHint = "It is left unchanged until that is known: fix what prevents the service from seeing it, and try again."

/** A copy made by hand has the mark too: the machine is the VM whose VMID we reserved, else the one with its name, and no other. */
const chosenOf = (claimants: readonly OwnMachine[], reserved: Vmid | undefined, name: string): OwnMachine | undefined =>
  claimants.find((c) => c.observed.vmid === reserved) ?? claimants.find((c) => c.detail.name === name)

const copyText = (name: string, chosen: OwnMachine | undefined): string =>
  chosen === undefined
    ? `it carries the mark of ${name}, but has neither that machine's name nor its VMID`
    : `it is a copy of ${labelOf(chosen.observed)}, mark included`
