import type { ObservedCluster, Plan, PromisedRoom, RangeId, Vmid } from "@rangewright/domain"

/** A deploy that has not started its machines after so long has most likely failed: its promise is not kept any longer. */
const keptForMillis = 3_600_000

interface GivenRoom extends PromisedRoom {
  readonly vmid: Vmid
}

/**
 * The room on nodes that plans of this process have given to machines which do not take it yet, so that ranges that are deployed at the same
 * time do not all go to the node that is emptiest now. A help for placement and nothing more: it is not kept, and not shared by instances.
 */
export interface Promises {
  /** What was promised to other ranges and is not taken: a machine that runs is in the node's own figures. */
  readonly toOthers: (than: RangeId, cluster: ObservedCluster) => readonly PromisedRoom[]
  /** The range's newest plan takes the place of what was promised to it before. */
  readonly make: (to: RangeId, plan: Plan, now: number) => void
}

const promisedBy = ({ steps }: Plan): readonly GivenRoom[] => {
  const cloned = new Set(steps.flatMap(({ action }) => (action.kind === "clone" ? [action.machine.vmid] : [])))
  return steps.flatMap(({ action }) => {
    if (action.kind !== "configure" || !cloned.has(action.machine.vmid)) return []
    const { vmid, node } = action.machine
    return [{ vmid, node, memoryMiB: action.settings.memoryMiB, cpus: action.settings.cpus }]
  })
}

export const makePromises = (): Promises => {
  const given = new Map<RangeId, { readonly at: number; readonly rooms: readonly GivenRoom[] }>()
  return {
    toOthers: (than, { at, machines }) => {
      const running = new Set(machines.flatMap(({ vmid, power }) => (power === "running" ? [vmid] : [])))
      for (const [range, promise] of given) {
        const rooms = promise.rooms.filter(({ vmid }) => !running.has(vmid))
        if (rooms.length === 0 || at.getTime() - promise.at > keptForMillis) given.delete(range)
        else given.set(range, { ...promise, rooms })
      }
      return [...given].flatMap(([range, { rooms }]) => (range === than ? [] : rooms))
    },
    make: (to, plan, now) => void given.set(to, { at: now, rooms: promisedBy(plan) }),
  }
}
