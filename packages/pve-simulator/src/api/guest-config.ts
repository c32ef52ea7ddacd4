import { refuseLocked, refuseSkiplock, withConfig } from "./guest-locks.ts"
import { type PlugProblem, plugProblem } from "./guest-power.ts"
import { checkChanges } from "./guest-rights.ts"
import { checkDrives, makeDisks } from "./new-disks.ts"
import { badParameter, failure } from "../core/errors.ts"
import {
  digestOf,
  isCloudInit,
  isDisk,
  isNet,
  lockOf,
  normaliseDisk,
  normaliseNic,
  normaliseTags,
  parseNic,
  touch,
  volumeOf,
} from "../core/guest-config.ts"
import { changeTakesEffect, isSameCard, removalTakesEffect } from "../core/hotplug.ts"
import { type Routine, sleep } from "../core/routine.ts"
import type { Config, Guest } from "../core/state.ts"
import type { TaskHandle } from "../core/tasks.ts"
import { findVolume, removeVolume } from "../core/volumes.ts"
import type { World } from "../core/world.ts"
import { type Call, type Routes, findGuest, guestOf, optionalText, spawn, text, vmidOf } from "../http/call.ts"
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

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Each line of the keys for cloud-init must be a public key. */
const checkKeys = (encoded: Config[string] | undefined): void => {
  for (const line of decoded(String(encoded ?? "")).split("\n")) {
    if (line.trim() === "") continue
    const [, type = "", blob = ""] = /(?:^|\s)((?:sk-)?(?:ssh|ecdsa)-[\w@.-]+)\s+([A-Za-z0-9+/]+=*)(?:\s|$)/u.exec(line) ?? []
    // the binary key begins with its type
    if (type === "" || !Buffer.from(blob, "base64").subarray(4).toString("latin1").startsWith(type))
      throw failure("SSH public key validation error")
  }
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

interface Edit {
  readonly changes: Config
  readonly removed: readonly string[]
  readonly reverted: readonly string[]
}

const readEdit = (call: Call): Edit => {
  const removed = splitList(optionalText(call, "delete") ?? "")
  const reverted = splitList(optionalText(call, "revert") ?? "")
  const changes = optionsIn(call)
  if (removed.length === 0 && reverted.length === 0 && Object.keys(changes).length === 0) throw failure("no options specified")
  for (const key of removed) if (!guestOptions.has(key)) throw badParameter({ delete: `unknown option '${key}'` })
  for (const key of reverted) if (!guestOptions.has(key)) throw badParameter({ revert: `unknown option '${key}'` })
  for (const key of removed)
    if (changes[key] !== undefined) throw badParameter({ delete: `you can't use '-${key}' and -delete ${key}' at the same time` })
  checkDrives(changes)
  checkChanges(call, vmidOf(call), changes, removed)
  return { changes, removed, reverted }
}

/** The checks on the guest itself, made under its lock. */
const checkEditable = (call: Call, guest: Guest): void => {
  const digest = optionalText(call, "digest")
  if (digest !== undefined && digest !== digestOf(guest)) throw failure("checksum mismatch (file change by other user?)")
  refuseLocked(call, guest)
}

function* applyEdit(call: Call, guest: Guest, edit: Edit, log: (line: string) => void): Routine<void> {
  const { world } = call
  const made = yield* makeDisks(world, guest, edit.changes, log)
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
    if (isOff || removalTakesEffect(before, key)) removeOption(world, guest, key)
    else if (guest.config[key] !== undefined) guest.pending[key] = undefined
  }
  for (const [key, value] of Object.entries(values)) {
    const old = guest.config[key]
    if (!takesEffect(key, value) || problems[key] !== undefined) {
      if (old === value) delete guest.pending[key]
      else guest.pending[key] = value
      continue
    }
    if (isDisk(key) && old !== undefined && volumeOf(String(old)) !== volumeOf(String(value))) replaceDisk(world, guest, key)
    guest.config[key] = value
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

/** A replaced disk is kept as an unused one; a cloud-init drive is removed. */
const replaceDisk = (world: World, guest: Guest, key: string): void => {
  const disk = String(guest.config[key])
  const volid = volumeOf(disk)
  if (findVolume(world, guest.node, volid) === undefined) return
  if (isCloudInit(disk)) return removeVolume(world, guest.node, volid)
  let n = 0
  while (guest.config[`unused${n}`] !== undefined) n += 1
  guest.config[`unused${n}`] = volid
}

const removeOption = (world: World, guest: Guest, key: string): void => {
  const value = guest.config[key]
  if (value === undefined) return
  if (isDisk(key)) replaceDisk(world, guest, key)
  if (/^unused\d+$/.test(key)) removeVolume(world, guest.node, volumeOf(String(value)))
  delete guest.config[key]
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

/** POST config: the same in a task. */
function* post(call: Call): Routine<string> {
  refuseSkiplock(call)
  const edit = readEdit(call)
  refuseUnfinished(call)
  const vmid = vmidOf(call)
  return yield* withConfig(call.world, vmid, function* (): Routine<string> {
    checkEditable(call, guestOf(call))
    return spawn(call, "qmconfig", vmid, (task) => configTask(call, edit, task))
  })
}

function* configTask(call: Call, edit: Edit, task: TaskHandle): Routine<void> {
  const { world } = call
  const shown = Object.entries(edit.changes).map(([key, value]) => `-${key} ${key === "cipassword" ? "<hidden>" : String(value)}`)
  task.log(
    `update VM ${vmidOf(call)}: ${[...shown, ...(edit.removed.length > 0 ? [`-delete ${edit.removed.join(",")}`] : [])].join(" ")}`,
  )
  yield* withConfig(world, vmidOf(call), function* (): Routine<void> {
    yield* sleep(world.clock, world.timing.configTask)
    const guest = guestOf(call)
    checkEditable(call, guest)
    yield* applyEdit(call, guest, edit, task.log)
  })
}

const unlink = (call: Call): Routine<null> => {
  const edit: Edit = { changes: {}, removed: splitList(text(call, "idlist")), reverted: [] }
  return withConfig(call.world, vmidOf(call), function* (): Routine<null> {
    const guest = guestOf(call)
    checkEditable(call, guest)
    yield* applyEdit(call, guest, edit, () => undefined)
    return null
  })
}

/** Changes of a VM's configuration. */
export const guestConfigRoutes: Routes = {
  "PUT /nodes/{node}/qemu/{vmid}/config": put,
  "POST /nodes/{node}/qemu/{vmid}/config": post,
  "PUT /nodes/{node}/qemu/{vmid}/unlink": unlink,
  "PUT /nodes/{node}/qemu/{vmid}/cloudinit": (call) => (guestOf(call), null),
}
