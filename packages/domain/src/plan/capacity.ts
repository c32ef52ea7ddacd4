import type { ObservedMachine, ObservedNode } from "../machine/observed.ts"
import { type RangeConfig, renderName } from "../range/config/index.ts"

/** What ranges may use of a node, besides what the node itself shows. */
export interface NodeUse {
  readonly machines: number
  readonly machinesOn: number
  /** Of all machines of ranges on it, as if all of them were on. */
  readonly cpus: number
  readonly memoryMiB: number
  /** Memory that is left when all of them are on; negative: they cannot all be on. */
  readonly freeMemoryMiB: number
}

const memoryOf = (machines: readonly Pick<ObservedMachine, "memoryMiB">[]): number =>
  machines.reduce((sum, { memoryMiB }) => sum + memoryMiB, 0)

/**
 * What machines of ranges use of their node and may use of it. Machines that are on count with the memory that the node shows as used, or
 * with all that they may use when that is more: guests use memory later, and give back what they do not need.
 */
export const nodeUse = (
  { name, memoryMiB, memoryUsedMiB }: ObservedNode,
  all: readonly Pick<ObservedMachine, "node" | "power" | "cpus" | "memoryMiB">[],
): NodeUse => {
  const machines = all.filter(({ node }) => node === name)
  const on = machines.filter(({ power }) => power !== "stopped")
  const promised = memoryOf(machines)
  const used = Math.max(memoryUsedMiB, memoryOf(on)) + promised - memoryOf(on)
  return {
    machines: machines.length,
    machinesOn: on.length,
    cpus: machines.reduce((sum, { cpus }) => sum + cpus, 0),
    memoryMiB: promised,
    freeMemoryMiB: memoryMiB - used,
  }
}

/** A machine of a range that is to be placed. */
export interface SizedMachine {
  readonly cpus: number
  readonly memoryMiB: number
  /** The node that it must go to; undefined: any. */
  readonly node: string | undefined
}

/** The machines of a range with this configuration, router included. Without a cluster all of them go to one node, whatever they name. */
export const sizedMachines = (
  { router, machines, defaults }: RangeConfig,
  { rangeId, inCluster }: { readonly rangeId: string; readonly inCluster: boolean },
): readonly SizedMachine[] =>
  [router, ...machines].map(({ cpus, ramGb, targetNode = defaults.targetNode }) => ({
    cpus,
    memoryMiB: Math.round(ramGb * 1024),
    node: targetNode === undefined || !inCluster ? undefined : renderName(targetNode, { rangeId }),
  }))

/**
 * How many ranges with these machines fit into the memory that nodes have left, at most `most`: the largest machines come first, and each
 * goes to the node with the most room. Cores are shared, so they limit nothing.
 */
export const copiesThatFit = (free: ReadonlyMap<string, number>, machines: readonly SizedMachine[], most: number): number => {
  const room = new Map(free)
  const largestFirst = machines.toSorted((a, b) => b.memoryMiB - a.memoryMiB)
  for (let copies = 0; copies < most; copies++)
    for (const { memoryMiB, node } of largestFirst) {
      const [best] = [...room].filter(([name]) => node === undefined || name === node).toSorted(([, a], [, b]) => b - a)
      if (best === undefined || best[1] < memoryMiB) return copies
      room.set(best[0], best[1] - memoryMiB)
    }
  return most
}
