import { PveError } from "./errors.ts"
import { emptyHost, type State } from "./state.ts"
import { darken, nowSeconds, type World } from "./world.ts"
import { powerOff, resumeBoots } from "../guest/boot.ts"

/** The version of the format of saved states. */
const FORM = 1
/** Additions to this format: 1, bridges say whether they are VLAN-aware, and guests do not start on one that is not. */
const GAINED = 1

const encode = (_: string, value: unknown): unknown => {
  if (value instanceof Map) return { "\u0000map": [...value] }
  if (value instanceof Set) return { "\u0000set": [...value] }
  return value
}

const decode = (_: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if ("\u0000map" in value && Array.isArray(value["\u0000map"])) return new Map(value["\u0000map"] as [unknown, unknown][])
  if ("\u0000set" in value && Array.isArray(value["\u0000set"])) return new Set(value["\u0000set"])
  return value
}

/** The whole state as text, without running routines. */
export const saveState = (world: World): string =>
  JSON.stringify({ form: FORM, gained: GAINED, now: world.clock.now(), state: world.state }, encode)

/**
 * Replaces the present state with a saved one, as if the API's processes had been killed and started again: running tasks are cut off
 * (`unexpected status`), and so are stages; guests and boots continue. Time does not go back. Fails, changing nothing, if the text is not a
 * saved state.
 */
export const restoreState = (world: World, text: string): void => {
  const { state, now } = parse(text)
  halt(world)
  world.clock.notBefore(now)
  world.state = state
  for (const task of state.tasks.values()) {
    if (task.exitstatus !== undefined) continue
    task.exitstatus = "unexpected status"
    task.endtime = nowSeconds(world)
  }
  for (const guest of state.guests.values()) {
    for (const [pid, exec] of guest.execs) if (!exec.exited) guest.execs.delete(pid)
  }
  world.rights.version = -1
  resumeBoots(world)
  world.wakeJobs()
}

/** Stops everything that runs, in whatever state. */
export const halt = (world: World): void => {
  for (const running of world.running.values()) running.interrupt(new Error("the simulator was reset"))
  for (const guest of world.state.guests.values()) powerOff(world, guest)
  world.bootQueues.clear()
  world.consoles.clear()
  for (const vmid of world.pictures.keys()) darken(world, vmid)
}

const parse = (text: string): { readonly state: State; readonly now: number } => {
  let value: unknown
  try {
    value = JSON.parse(text, decode)
  } catch (error) {
    throw new PveError(400, `not a saved state: ${(error as Error).message}`)
  }
  const saved = value as { form?: unknown; gained?: unknown; now?: unknown; state?: Partial<State> } | null
  const { form, gained, now, state } = saved ?? {}
  const complete = [state?.nodes, state?.storages, state?.guests, state?.pools, state?.tasks, state?.leases].every(
    (part) => part instanceof Map,
  )
  if (form !== FORM || !complete || state?.access === undefined || state.sdn === undefined || state.random === undefined) {
    throw new PveError(400, `not a saved state of form ${FORM}`)
  }
  // older states do not say which SDN configuration nodes have read: all had read the applied one
  for (const node of (state as State).nodes.values()) {
    node.sdnVersion ??= state.sdn.version
    // older states have no files and routes of nodes
    node.host ??= emptyHost()
    const outside = node.interfaces.get("vmbr1000")
    if (gained === undefined && outside?.["bridge_ports"] === "") outside["bridge_vlan_aware"] = 1
  }
  return {
    // older states have no high availability, custom processor models, firewalls or jobs
    state: {
      ...(state as State),
      ha: state.ha ?? new Map(),
      haRules: state.haRules ?? new Map(),
      cpuModels: state.cpuModels ?? new Map(),
      backupJobs: state.backupJobs ?? new Map(),
      firewalls: state.firewalls ?? new Map(),
      options: state.options ?? { keyboard: "en-us", mac_prefix: "BC:24:11" },
    },
    now: typeof now === "number" && Number.isFinite(now) ? now : 0,
  }
}
