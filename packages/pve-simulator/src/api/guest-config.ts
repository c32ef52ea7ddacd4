import { refuseLocked, refuseSkiplock, withConfig } from "./guest-locks.ts"
import { type PlugProblem, plugProblem } from "./guest-power.ts"
import { checkChanges } from "./guest-rights.ts"
import { checkDrives, makeDisks } from "./new-disks.ts"
import { bootAfter, checkBalloon, checkBoot, checkKeys, checkProtection, type Edit } from "./edit-rules.ts"
import { removeOption, setOption } from "../core/drives.ts"
import { badParameter, failure } from "../core/errors.ts"
import {
  digestOf,
  isDisk,
  isNet,
  lockOf,
  normaliseDisk,
  normaliseNic,
  normaliseTags,
  parseNic,
  touch,
} from "../core/guest-config.ts"
import { changeTakesEffect, isSameCard, removalTakesEffect } from "../core/hotplug.ts"
import { type Routine, sleep } from "../core/routine.ts"
import type { Config, Guest } from "../core/state.ts"
import { awaitTask, isGoodEnd, type TaskHandle } from "../core/tasks.ts"
import { asText } from "../core/text.ts"
import type { World } from "../core/world.ts"
import { type Call, type Routes, findGuest, flag, guestOf, optionalNumber, optionalText, spawn, vmidOf } from "../http/call.ts"
import { splitList } from "../schema/formats.ts"
import { guestOptions } from "../schema/schema.ts"

/** The options among the parameters of a call. */
export const optionsIn = (call: Call): Config => {
  const out: Config = {}
  for (const [key, value] of Object.entries(call.parameters)) {
    if (guestOptions.has(key)) out[key] = value as string | number
  }
  checkKeys(out["sshkeys"])
  const { cdrom, ...options } = out
  // the name of the usual disc drive in older versions
  return cdrom === undefined ? options : { ...options, ide2: /media=/u.test(String(cdrom)) ? cdrom : `${cdrom},media=cdrom` }
}

/** Values as stored in the configuration file. */
export const normalise = (world: World, changes: Config): Config => {
  const out: Config = {}
  for (const [key, value] of Object.entries(changes)) {
    if (isNet(key)) out[key] = normaliseNic(world, String(value))
    else if (isDisk(key)) out[key] = normaliseDisk(key, String(value))
    else if (key === "tags") out[key] = normaliseTags(String(value))
    else out[key] = value
  }
  return out
}

/** Splits values into those that the configuration file can store and the names of empty ones, for which it has no line. */
export const withoutEmpty = (values: Config): { readonly kept: Config; readonly empty: readonly string[] } => ({
  kept: Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "")),
  empty: Object.keys(values).filter((key) => values[key] === ""),
})

const readEdit = (call: Call): Edit => {
  const removed = splitList(optionalText(call, "delete") ?? "")
  const reverted = splitList(optionalText(call, "revert") ?? "")
  const changes = optionsIn(call)
  if (removed.length === 0 && reverted.length === 0 && Object.keys(changes).length === 0) throw failure("no options specified")
  for (const key of removed) if (!guestOptions.has(key)) throw badParameter({ delete: `unknown option '${key}'` })
  for (const key of reverted) if (!guestOptions.has(key)) throw badParameter({ revert: `unknown option '${key}'` })
  const together = (one: string, other: string) => `you can't use '-${one}' and -${other}' at the same time`
  for (const key of reverted) if (changes[key] !== undefined) throw badParameter({ delete: together(key, `revert ${key}`) })
  for (const key of removed) {
    if (changes[key] !== undefined) throw badParameter({ delete: together(key, `delete ${key}`) })
    if (reverted.includes(key)) throw badParameter({ revert: together(`delete ${key}`, `revert ${key}`) })
  }
  checkDrives(changes)
  checkChanges(call, vmidOf(call), changes, removed)
  return { changes, removed, reverted }
}

/** The checks on the guest itself, made under its lock. */
const checkEditable = (call: Call, guest: Guest): void => {
  const digest = optionalText(call, "digest")
  if (digest !== undefined && digest !== digestOf(guest)) throw failure("checksum mismatch (file change by other user?)")
  refuseLocked(call, guest)
  checkBalloon(guest, optionsIn(call))
}

function* applyEdit(call: Call, guest: Guest, edit: Edit, log: (line: string) => void): Routine<void> {
  const { world } = call
  const force = flag(call, "force")
  checkProtection(guest, edit)
  checkBoot(guest, edit)
  const made = yield* makeDisks(world, guest, { ...edit.changes, ...bootAfter(guest, edit) }, log)
  const { kept: values, empty } = withoutEmpty(normalise(world, made))
  const isOff = guest.status === "stopped"
  /** Decided by the configuration before the edit: a changed `hotplug` counts from the next edit on. */
  const before = { ...guest.config }
  const takesEffect = (key: string, value: Config[string]): boolean => isOff || changeTakesEffect(before, key, value)
  const problems = isOff ? {} : yield* moveCards(world, guest, values, takesEffect)
  touch(world, guest)
  for (const key of edit.reverted) delete guest.pending[key]
  for (const key of [...edit.removed, ...empty]) {
    delete guest.pending[key]
    if (isOff || removalTakesEffect(before, key)) removeOption(world, guest, key, force)
    else if (guest.config[key] !== undefined) {
      guest.pending[key] = undefined
      if (force) guest.forced = [...(guest.forced ?? []), key]
    }
  }
  for (const [key, value] of Object.entries(values)) {
    const old = guest.config[key]
    if (!takesEffect(key, value) || problems[key] !== undefined) {
      if (old === value) delete guest.pending[key]
      else guest.pending[key] = value
      continue
    }
    setOption(world, guest, key, value!)
    delete guest.pending[key]
  }
  if (Object.keys(problems).length > 0) throw badParameter(problems)
}

/**
 * Changed cards of a running guest leave their networks for a moment. A card whose new network does not exist on the node stays unplugged,
 * and its change stays pending; returns the errors of these cards by option.
 */
function* moveCards(
  world: World,
  guest: Guest,
  values: Config,
  takesEffect: (key: string, value: Config[string]) => boolean,
): Routine<Readonly<Record<string, string>>> {
  const moved = Object.entries(values).filter(
    ([key, value]) => isNet(key) && guest.config[key] !== value && takesEffect(key, value),
  )
  if (moved.length === 0) return {}
  for (const [key] of moved) world.unplugged.add(`${guest.vmid} ${key}`)
  yield* sleep(world.clock, world.timing.moveCards)
  const node = world.state.nodes.get(guest.node)!
  const problems: Record<string, string> = {}
  for (const [key, value] of moved) {
    const problem = plugProblem(node, parseNic(0, String(value)))
    if (problem === undefined) world.unplugged.delete(`${guest.vmid} ${key}`)
    else problems[key] = `hotplug problem - ${hotplugFailure(guest, key, String(value), problem)}\n`
  }
  return problems
}

/**
 * The server itself replugs a card that stays the same device; for any other card QEMU calls its network script, which reports only a
 * status.
 */
const hotplugFailure = (guest: Guest, key: string, value: string, problem: PlugProblem): string => {
  const before = guest.config[key]
  if (before !== undefined && isSameCard(String(before), value)) return problem.text
  const script = "/usr/libexec/qemu-server/pve-bridge-hotplug"
  return `VM ${guest.vmid} qmp command 'netdev_add' failed - network script ${script} failed with status ${problem.status}`
}

/** Refuses a guest that is still being cloned at once, although its file is locked until the clone is finished. */
const refuseUnfinished = (call: Call): void => {
  const guest = findGuest(call)
  if (guest !== undefined && lockOf(guest.config) === "clone") refuseLocked(call, guest)
}

/** PUT config: synchronous; waits for the lock and returns null. */
function* put(call: Call): Routine<null> {
  refuseSkiplock(call)
  const edit = readEdit(call)
  refuseUnfinished(call)
  const vmid = vmidOf(call)
  yield* withConfig(call.world, vmid, function* (): Routine<void> {
    const guest = guestOf(call)
    checkEditable(call, guest)
    yield* applyEdit(call, guest, edit, () => undefined)
  })
  return null
}

/** POST config: the same in a task, which the call may await for some seconds. */
function* post(call: Call): Routine<string | null> {
  refuseSkiplock(call)
  const edit = readEdit(call)
  refuseUnfinished(call)
  const vmid = vmidOf(call)
  const upid = yield* withConfig(call.world, vmid, function* (): Routine<string> {
    checkEditable(call, guestOf(call))
    return spawn(call, "qmconfig", vmid, (task) => configTask(call, edit, task))
  })
  const seconds = optionalNumber(call, "background_delay")
  const end = seconds === undefined ? undefined : yield* awaitTask(call.world, upid, seconds)
  if (end === undefined) return upid
  if (!isGoodEnd(end)) throw failure(`failed to update VM ${vmid}: ${end}`)
  return null
}

const steering = new Set(["node", "vmid", "digest", "background_delay"])

function* configTask(call: Call, edit: Edit, task: TaskHandle): Routine<void> {
  const { world } = call
  const shown = Object.entries(call.parameters)
    .filter(([key]) => !steering.has(key))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `-${key} ${key === "cipassword" ? "<hidden>" : asText(value)}`)
  task.log(`update VM ${vmidOf(call)}: ${shown.join(" ")}`)
  yield* withConfig(world, vmidOf(call), function* (): Routine<void> {
    yield* sleep(world.clock, world.timing.configTask)
    const guest = guestOf(call)
    checkEditable(call, guest)
    yield* applyEdit(call, guest, edit, task.log)
  })
}

/** The removal of drives is an edit like any other. */
const unlink = (call: Call): Routine<null> =>
  put({ ...call, parameters: { ...call.parameters, delete: call.parameters["idlist"] } })

/** Changes of a VM's configuration. */
export const guestConfigRoutes: Routes = {
  "PUT /nodes/{node}/qemu/{vmid}/config": put,
  "POST /nodes/{node}/qemu/{vmid}/config": post,
  "PUT /nodes/{node}/qemu/{vmid}/unlink": unlink,
  "PUT /nodes/{node}/qemu/{vmid}/cloudinit": (call) => (guestOf(call), null),
}
