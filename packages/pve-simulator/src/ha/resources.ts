import { failure } from "../core/errors.ts"
import type { HaResource } from "../core/state.ts"
import type { World } from "../core/world.ts"
import { type Blocker, blockersOf, companions, leaveRules } from "./rules.ts"

/** The high-availability resource of a guest, whatever its state; undefined when it is none. */
export const haOf = (world: World, vmid: number): HaResource | undefined => world.state.ha.get(vmid)

/** Whether the manager decides about a guest's power and place. */
export const isManaged = (world: World, vmid: number): boolean => (haOf(world, vmid)?.state ?? "ignored") !== "ignored"

/** The guest is managed no longer, and no rule speaks of it. */
export const removeResource = (world: World, vmid: number): void => {
  world.state.ha.delete(vmid)
  leaveRules(world, vmid)
}

/** Whether the manager has given up on a resource, until somebody disables it. */
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

/** What came of a request for another node. */
export interface NodeRequest {
  /** What speaks against it; nothing was asked for then. */
  readonly blockers: readonly Blocker[]
  /** Others that go along. */
  readonly companions: readonly number[]
}

/** Asks the manager to bring a guest to another node: `migrate` moves it as it runs, `relocate` stops it first. */
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
