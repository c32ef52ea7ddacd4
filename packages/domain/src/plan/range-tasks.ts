import type { DesiredRange } from "./desired.ts"
import type { DeployInput } from "./input.ts"
import type { Change } from "./plan.ts"
import { findNetwork } from "./obstacles.ts"
import type { Task, TaskState } from "./task.ts"
import { timing } from "./timing.ts"
import type { PlanWorld } from "./world.ts"

export interface RangeTasks {
  readonly tasks: readonly Task[]
  readonly poolKey: string
  readonly networkKey: string
  /** What the kept tasks do to pool and network, for people. */
  readonly changes: (kept: readonly Task[]) => readonly Change[]
}

/** What a range needs besides machines: its pool and its network, without rights on them. `nodes`: where its machines are or will be. */
export const rangeTasks = ({ world, range }: DeployInput, desired: DesiredRange, nodes: ReadonlySet<string>): RangeTasks => {
  const { network } = desired
  const observed = findNetwork(world.networks, network)
  const doubtful = network.type === "vnet" ? doubtfulOn(world, network.zone, nodes) : []
  const base = { machine: undefined, tags: [], role: undefined, uses: [] } as const
  const stateIf = (there: boolean): TaskState => (there ? "done" : "missing")
  const pool: Task = {
    ...base,
    key: "pool",
    title: `Create pool ${range.id}`,
    state: stateIf(world.poolExists),
    action: { kind: "create-pool", poolId: range.id },
    after: [],
    estimate: timing.pool,
  }
  const net: Task = {
    ...base,
    key: "network",
    title: `Create network ${network.name}`,
    state: stateIf(observed?.usable === true && doubtful.length === 0),
    action:
      network.type === "vnet"
        ? { kind: "create-network", network, nodes: [...nodes].sort() }
        : { kind: "create-network", network },
    after: [],
    estimate: network.type === "vnet" ? timing.vnet : timing.bridge,
  }
  const objects = [
    { task: pool, object: `pool ${range.id}`, kind: "create", reason: "it does not exist" },
    {
      task: net,
      object: `network ${network.name}`,
      kind: observed === undefined ? "create" : "change",
      reason:
        observed === undefined
          ? "it does not exist"
          : observed.usable
            ? `it may be missing on ${doubtful.join(", ")}`
            : "a change has not been applied yet",
    },
  ] as const
  return {
    tasks: [pool, net],
    poolKey: pool.key,
    networkKey: net.key,
    changes: (kept) =>
      objects.map(({ task, object, kind, reason }): Change =>
        kept.some((t) => t.key === task.key) ? { kind, object, reasons: [reason] } : { kind: "none", object, reasons: [] },
      ),
  }
}

/** Those of these nodes that missed an apply of the zone, or failed to create a VNet of it: any of its VNets may be missing there. */
const doubtfulOn = ({ cluster }: PlanWorld, zone: string, nodes: ReadonlySet<string>): readonly string[] =>
  (cluster.zones ?? [])
    .filter((span) => span.zone === zone && span.state !== "available" && nodes.has(span.node))
    .map(({ node }) => node)
    .sort()
