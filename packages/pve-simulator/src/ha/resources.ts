import { failure } from "../core/errors.ts"
import type { HaResource } from "../core/state.ts"
import type { World } from "../core/world.ts"
import { type Blocker, blockersOf, companions, leaveRules } from "./rules.ts"

/** The high availability resource of a guest, whatever its state; undefined if it has none. */
export const haOf = (world: World, vmid: number): HaResource | undefined => world.state.ha.get(vmid)

/** Whether the manager decides a guest's power state and node. */
export const isManaged = (world: World, vmid: number): boolean => (haOf(world, vmid)?.state ?? "ignored") !== "ignored"

/** Removes a guest from the manager and from all rules. */
export const removeResource = (world: World, vmid: number): void => {
  world.state.ha.delete(vmid)
  leaveRules(world, vmid)
}

/** Whether the manager has given up on a resource, until it is disabled. */
export const isBroken = ({ failures }: HaResource): boolean => failures > 1

/** Asks the manager for a state; it acts a little later. */
export const requestState = (world: World, vmid: number, state: HaResource["state"]): void => {
  const resource = haOf(world, vmid)
  if (resource === undefined) throw failure(`no such resource 'vm:${vmid}'`)
  if (isBroken(resource) && state !== "disabled")
    throw failure(`service 'vm:${vmid}' in error state, must be disabled and fixed first`)
  resource.state = state
  resource.failures = 0
  world.wakeManager()
}

/** The result of a request for another node. */
export interface NodeRequest {
  /** Reasons against it; then nothing is requested. */
  readonly blockers: readonly Blocker[]
  /** Other resources that move too. */
  readonly companions: readonly number[]
}

/** Asks the manager to move a guest to another node: `migrate` moves it while it runs, `relocate` stops it first. */
export const requestNode = (world: World, vmid: number, node: string, how: "migrate" | "relocate"): NodeRequest => {
  const resource = haOf(world, vmid)
  if (resource === undefined) throw failure(`no such resource 'vm:${vmid}'`)
  const blockers = blockersOf(world, vmid, node)
  const others = companions(world, vmid)
  if (blockers.length > 0) return { blockers, companions: others }
  for (const each of [vmid, ...others]) {
    const moved = haOf(world, each)
    if (moved !== undefined) moved.wanted = { node, how }
  }
  world.wakeManager()
  return { blockers, companions: others }
}
