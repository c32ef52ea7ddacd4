import type { DesiredRange } from "./desired.ts"
import type { DeployInput } from "./input.ts"
import type { Change } from "./plan.ts"
import { findNetwork } from "./obstacles.ts"
import type { Task, TaskState } from "./task.ts"
import { timing } from "./timing.ts"

export interface RangeTasks {
  readonly tasks: readonly Task[]
  readonly poolKey: string
  readonly networkKey: string
  /** What the kept tasks do to pool, network and rights, for people. */
  readonly changes: (kept: readonly Task[]) => readonly Change[]
}

/** What a range needs besides machines: its pool, its network, and the rights of those who have it. */
export const rangeTasks = ({ world, range }: DeployInput, desired: DesiredRange): RangeTasks => {
  const { network, userIds } = desired
  const observed = findNetwork(world.networks, network)
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
    state: stateIf(observed?.usable === true),
    action: { kind: "create-network", network },
    after: [],
    estimate: network.type === "vnet" ? timing.vnet : timing.bridge,
  }
  const access: Task = {
    ...base,
    key: "access",
    title: `Grant access to ${range.id}`,
    state: stateIf(world.granted && world.poolExists),
    action: { kind: "grant-access", rangeId: range.id, userIds, network },
    after: [pool.key, net.key],
    estimate: timing.grant,
  }
  const objects = [
    { task: pool, object: `pool ${range.id}`, kind: "create", reason: "it does not exist" },
    {
      task: net,
      object: `network ${network.name}`,
      kind: observed === undefined ? "create" : "change",
      reason: observed === undefined ? "it does not exist" : "a change waits to be applied",
    },
    { task: access, object: `access to ${range.id}`, kind: "change", reason: "rights are missing" },
  ] as const
  return {
    tasks: [pool, net, access],
    poolKey: pool.key,
    networkKey: net.key,
    changes: (kept) =>
      objects.map(({ task, object, kind, reason }): Change =>
        kept.some((t) => t.key === task.key) ? { kind, object, reasons: [reason] } : { kind: "none", object, reasons: [] },
      ),
  }
}
