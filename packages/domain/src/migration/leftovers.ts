import type { Installation, InstallationBridge } from "./installation.ts"
import { networksOf } from "./machines.ts"
import { placeOf } from "./picture.ts"
import type { MigrationStep } from "./plan.ts"
import { migrationStep } from "./steps.ts"

/** A node on which an earlier migration removed bridges from the configuration, but did not get to the reload. */
interface Leftover {
  readonly node: string
  readonly bridges: readonly InstallationBridge[]
}

/** Nodes where machines are (again) on such a bridge: the next reload, also one by an SDN apply, would cut them off. */
const leftoversOf = ({ nodes, machines, record }: Installation): readonly Leftover[] => {
  const recorded = new Map(record?.bridges.map((bridge) => [placeOf(bridge.node, bridge.name), bridge]))
  const used = new Set(
    machines.flatMap((machine) => (machine.template ? [] : [...networksOf(machine)].map((name) => placeOf(machine.node, name)))),
  )
  return nodes.flatMap(({ name: node, pending }) => {
    const bridges = pending.flatMap(({ name, change }) => (change === "removed" ? (recorded.get(placeOf(node, name)) ?? []) : []))
    // a revert would also drop edits of others, so a node that has any is reported as a blocker instead
    const isAll = pending.length > 0 && bridges.length === pending.length
    return isAll && bridges.some(({ name }) => used.has(placeOf(node, name))) ? [{ node, bridges }] : []
  })
}

/** The installation once these removals are reverted, and the steps that revert them; everything else is planned from there. */
export const withoutLeftovers = (
  installation: Installation,
): { readonly installation: Installation; readonly reverts: readonly MigrationStep[] } => {
  const leftovers = leftoversOf(installation)
  if (leftovers.length === 0) return { installation, reverts: [] }
  const reverted = new Set(leftovers.map(({ node }) => node))
  return {
    installation: {
      ...installation,
      nodes: installation.nodes.map((node) => (reverted.has(node.name) ? { ...node, pending: [] } : node)),
      bridges: [...installation.bridges, ...leftovers.flatMap(({ bridges }) => bridges)],
    },
    reverts: leftovers.map(({ node, bridges }) =>
      migrationStep(
        {
          key: `revert-network:${node}`,
          title: `Undo what an earlier migration wrote to the network of node ${node}`,
          phase: "prepare",
          after: [],
        },
        { kind: "revert-network", node, bridges: bridges.map(({ name }) => name).sort() },
      ),
    ),
  }
}
