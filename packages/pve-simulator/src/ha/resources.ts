import { failure } from "../core/errors.ts"
import type { HaResource } from "../core/state.ts"
import type { World } from "../core/world.ts"

/** The high-availability resource of a guest, whatever its state; undefined when it is none. */
export const haOf = (world: World, vmid: number): HaResource | undefined => world.state.ha.get(vmid)

/** Whether the manager decides about a guest's power and place. */
export const isManaged = (world: World, vmid: number): boolean => (haOf(world, vmid)?.state ?? "ignored") !== "ignored"

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

/** Asks the manager to bring a guest to another node: `migrate` moves it as it runs, `relocate` stops it first. */
export const requestNode = (world: World, vmid: number, node: string, how: "migrate" | "relocate"): void => {
  const resource = haOf(world, vmid)
  if (resource === undefined) throw failure(`no such resource 'vm:${vmid}'`)
  resource.wanted = { node, how }
  world.wakeManager()
}
