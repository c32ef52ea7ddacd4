import { failure } from "../core/errors.ts"
import { isDisc, isDisk, memoryMb, parsePairs, volumeOf } from "../core/guest-config.ts"
import type { Config, Guest } from "../core/state.ts"

/** An edit of a VM's configuration: options to set, to remove, and pending changes to drop. */
export interface Edit {
  readonly changes: Config
  readonly removed: readonly string[]
  readonly reverted: readonly string[]
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Each line of the keys for cloud-init must be a public key. */
export const checkKeys = (encoded: Config[string] | undefined): void => {
  for (const line of decoded(String(encoded ?? "")).split("\n")) {
    if (line.trim() === "") continue
    const [, type = "", blob = ""] = /(?:^|\s)((?:sk-)?(?:ssh|ecdsa)-[\w@.-]+)\s+([A-Za-z0-9+/]+=*)(?:\s|$)/u.exec(line) ?? []
    // the binary key begins with its type
    if (type === "" || !Buffer.from(blob, "base64").subarray(4).toString("latin1").startsWith(type))
      throw failure("SSH public key validation error")
  }
}

/** Refuses a balloon that is larger than the memory. */
export const checkBalloon = (guest: Guest, changes: Config): void => {
  if (changes["memory"] === undefined && changes["balloon"] === undefined) return
  const next = { ...guest.config, ...guest.pending, ...changes }
  const memory = memoryMb({ memory: next["memory"] ?? "512" })
  if (Number(next["balloon"] ?? 0) > memory) throw failure("balloon value too large (must be smaller than assigned memory)")
}

/** The devices of a boot order; undefined if there is none, or one of the older kind. */
const bootDevices = (boot: Config[string] | undefined): readonly string[] | undefined =>
  parsePairs(String(boot ?? ""))
    .get("order")
    ?.split(";")
    .filter((device) => device !== "")

/** Refuses a boot order with a device that does not exist after the edit. */
export const checkBoot = (guest: Guest, { changes, removed }: Edit): void => {
  for (const device of bootDevices(changes["boot"]) ?? []) {
    const exists = [guest.config, guest.pending, changes].some((options) => options[device] !== undefined)
    if (!exists || removed.includes(device)) throw failure(`invalid bootorder: device '${device}' does not exist'`)
  }
}

/** The boot order after an edit that does not set it: without removed devices, and with new disc drives at its end. */
export const bootAfter = (guest: Guest, { changes, removed }: Edit): Config => {
  const before = bootDevices(guest.config["boot"])
  if (changes["boot"] !== undefined || before === undefined || before.length === 0) return {}
  const kept = before.filter((device) => !removed.includes(device))
  const drives = Object.keys(changes).filter((key) => isDisk(key) && isDisc(String(changes[key])))
  const after = [...kept, ...drives.filter((key) => !kept.includes(key))]
  return after.join(";") === before.join(";") ? {} : { boot: after.length === 0 ? "" : `order=${after.join(";")}` }
}

/** Takes a device out of the boot order. */
export const dropFromBoot = (guest: Guest, device: string): void => {
  const { boot } = bootAfter(guest, { changes: {}, removed: [device], reverted: [] })
  if (boot === "") delete guest.config["boot"]
  else if (boot !== undefined) guest.config["boot"] = boot
}

/** A protected VM keeps its disks. */
export const checkProtection = (guest: Guest, { removed }: Edit): void => {
  if (Number(guest.config["protection"] ?? 0) !== 1) return
  for (const key of removed) {
    const value = guest.config[key]
    if (value === undefined) continue
    if (/^unused\d+$/u.test(key)) throw failure(`can't remove unused disk '${volumeOf(String(value))}' - protection mode enabled`)
    if (isDisk(key)) throw failure(`can't remove drive '${key}' - protection mode enabled`)
  }
}
