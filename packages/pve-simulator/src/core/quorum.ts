import type { World } from "./world.ts"

/** Whether more than half of the nodes see each other, which every change requires. A single node always has quorum. */
export const hasQuorum = (world: World): boolean => {
  const nodes = [...world.state.nodes.keys()]
  const online = nodes.filter((name) => !world.faults.isNodeDown(name))
  return nodes.length === 1 || (!world.faults.isQuorumLost() && online.length * 2 > nodes.length)
}
