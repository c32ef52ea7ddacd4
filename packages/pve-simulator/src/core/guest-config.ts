import { createHash } from "node:crypto"
import { splitList } from "../schema/formats.ts"
import { optionFormat } from "../schema/schema.ts"
import { parseBoolean } from "../schema/validate.ts"
import { randomMac } from "./random.ts"
import type { Config, Guest, Reported } from "./state.ts"
import { findVolume, parseSize } from "./volumes.ts"
import type { World } from "./world.ts"

const diskName = /^(?:ide|scsi|virtio|sata|efidisk|tpmstate)\d+$/
const netName = /^net\d+$/

/** Whether an option is a disk (`scsi0`, `ide2`, …). */
export const isDisk = (key: string): boolean => diskName.test(key)
/** Whether an option is a network device (`net0`, …). */
export const isNet = (key: string): boolean => netName.test(key)

/** Splits a property string into pairs; a part without `=` gets the empty name, and empty parts are skipped. */
export const parsePairs = (text: string): Map<string, string> => {
  const out = new Map<string, string>()
  for (const part of text.split(",")) {
    if (part.trim() === "") continue
    const at = part.indexOf("=")
    if (at < 0) out.set("", part)
    else out.set(part.slice(0, at), part.slice(at + 1))
  }
  return out
}

/** The volume id of a disk's property string. */
export const volumeOf = (disk: string): string => {
  const pairs = parsePairs(disk)
  return pairs.get("") ?? pairs.get("file") ?? pairs.get("volume") ?? ""
}

/** The named parts of a property string in stored form: sorted by name, with booleans as 1 and 0. */
const namedParts = (key: string, pairs: ReadonlyMap<string, string>, apart: (name: string) => boolean): string[] => {
  const format = optionFormat(key)
  return [...pairs]
    .filter(([name]) => name !== "" && !apart(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${format?.[name]?.type === "boolean" ? parseBoolean(value) : value}`)
}

/** A disk in stored form: its volume first, without its optional key. */
export const normaliseDisk = (key: string, disk: string): string =>
  [volumeOf(disk), ...namedParts(key, parsePairs(disk), (name) => name === "file" || name === "volume")].join(",")

/** Whether a disk's property string says that it is a CD. */
export const isCdrom = (disk: string): boolean => parsePairs(disk).get("media") === "cdrom"
/** Whether it is a cloud-init drive. */
export const isCloudInit = (disk: string): boolean => /(?:^|[-/:])(?:vm-\d+-)?cloudinit/.test(volumeOf(disk))

/** Whether it is a CD with an image of its own, and no cloud-init drive. */
export const isDisc = (disk: string): boolean => isCdrom(disk) && !isCloudInit(disk)

/** Disks with a guest's own volumes, including cloud-init drives. */
export const ownDisks = (config: Config): [string, string][] =>
  Object.entries(config)
    .filter(([key, value]) => isDisk(key) && typeof value === "string")
    .map(([key, value]): [string, string] => [key, String(value)])
    .filter(([, disk]) => !isDisc(disk))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))

const models = new Set(
  "e1000 e1000-82540em e1000-82544gc e1000-82545em e1000e i82551 i82557b i82559er ne2k_isa ne2k_pci pcnet rtl8139 virtio vmxnet3".split(
    " ",
  ),
)

/** A network device as its property string describes it. */
export interface Nic {
  readonly index: number
  readonly model: string
  readonly mac: string
  readonly bridge: string | undefined
  readonly tag: number | undefined
}

/** A network device's property string; its model may be the key of its MAC address. */
export const parseNic = (index: number, text: string): Nic => {
  const pairs = parsePairs(text)
  let model = pairs.get("model") ?? pairs.get("") ?? "virtio"
  let mac = pairs.get("macaddr") ?? ""
  for (const [key, value] of pairs) {
    if (!models.has(key)) continue
    model = key
    mac = value
  }
  const tag = pairs.get("tag")
  return { index, model, mac: mac.toUpperCase(), bridge: pairs.get("bridge"), tag: tag === undefined ? undefined : Number(tag) }
}

/** The network devices of a configuration, by index. */
export const nicsOf = (config: Config): Nic[] =>
  Object.entries(config)
    .filter(([key]) => isNet(key))
    .map(([key, value]) => parseNic(Number(key.slice(3)), String(value)))
    .toSorted((a, b) => a.index - b.index)

/** A network device in stored form: model and MAC first, with a new MAC if none was given. */
export const normaliseNic = (world: World, text: string): string => {
  const nic = parseNic(0, text)
  const mac = nic.mac === "" ? randomMac(world.state.random, String(world.state.options["mac_prefix"] ?? "BC:24:11")) : nic.mac
  const apart = (name: string) => models.has(name) || name === "model" || name === "macaddr"
  return [`${nic.model}=${mac}`, ...namedParts("net0", parsePairs(text), apart)].join(",")
}

/** Tags in stored form: lower case, without duplicates, sorted, joined by `;`. */
export const normaliseTags = (text: string): string => [...new Set(splitList(text.toLowerCase()))].toSorted().join(";")

/** The digest with which a change detects a concurrent one. */
export const digestOf = (guest: Guest): string => {
  const text = [guest.config, guest.pending, ...[...guest.snapshots.values()].map((snapshot) => snapshot.config)]
    .map((config) => JSON.stringify(Object.entries(config).toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .join("\n")
  return createHash("sha1").update(text).digest("hex")
}

/** Mebibytes of memory. */
export const memoryMb = (config: Config): number => Number(parsePairs(String(config["memory"] ?? "512")).get("") ?? 512)

/** The number of processors that a guest sees. */
export const coreCount = (config: Config): number =>
  Number(config["vcpus"] ?? Number(config["cores"] ?? 1) * Number(config["sockets"] ?? 1))

/** The name of a guest, or the one shown for a guest without a name. */
export const guestName = (guest: Guest): string => String(guest.config["name"] ?? `VM ${guest.vmid}`)

/** Whether the agent option is on. */
export const hasAgent = (config: Config): boolean => {
  const pairs = parsePairs(String(config["agent"] ?? "0"))
  return /^(1|on|yes|true)$/i.test(pairs.get("") ?? pairs.get("enabled") ?? "0")
}

/** The lock in a configuration that forbids an action, if any. */
export const lockOf = (config: Config): string | undefined => (config["lock"] === undefined ? undefined : String(config["lock"]))

/** The key of the disk from which a guest boots. */
const bootDisk = (config: Config): string | undefined => {
  const order =
    parsePairs(String(config["boot"] ?? ""))
      .get("order")
      ?.split(";") ?? []
  const disks = Object.keys(config).filter((key) => isDisk(key) && !isCdrom(String(config[key])))
  return order.find((key) => disks.includes(key)) ?? disks[0]
}

/** Bytes of the boot disk. */
export const maxDisk = (world: World, guest: Guest): number => {
  const key = bootDisk(guest.config)
  if (key === undefined) return 0
  const disk = String(guest.config[key])
  return parseSize(parsePairs(disk).get("size") ?? "") ?? findVolume(world, guest.node, volumeOf(disk))?.sizeBytes ?? 0
}

const buses = ["ide", "scsi", "virtio", "sata"]

/** The place of a drive or card among those of a VM: by its bus, then by its number. */
const placeOf = (key: string): number => {
  const [, bus = "", number = "0"] = /^([a-z]+)(\d+)$/u.exec(key) ?? []
  return buses.indexOf(bus) * 100 + Number(number)
}

/** The default boot order of a new VM: its first disk, its first disc drive, its first network device. */
export const defaultBoot = (config: Config): string => {
  const drives = Object.keys(config)
    .filter((key) => buses.some((bus) => new RegExp(`^${bus}\\d+$`, "u").test(key)))
    .toSorted((a, b) => placeOf(a) - placeOf(b))
  const disk = drives.find((key) => !isCdrom(String(config[key])))
  const cdrom = drives.find((key) => isCdrom(String(config[key])))
  const [net] = nicsOf(config)
  return `order=${[disk, cdrom, net === undefined ? undefined : `net${net.index}`].filter((key) => key !== undefined).join(";")}`
}

/** Reports cached since a guest last changed: lists of thousands are read far more often than guests change. */
const known = new WeakMap<Guest, Reported>()

/** The present report about a guest. */
export const reportedNow = (world: World, guest: Guest): Reported => {
  let reported = known.get(guest)
  if (reported === undefined) {
    reported = workOut(world, guest)
    known.set(guest, reported)
  }
  return reported
}

const workOut = (world: World, guest: Guest): Reported => ({
  name: guestName(guest),
  status: guest.status,
  template: Number(guest.config["template"] ?? 0),
  maxcpu: coreCount(guest.config),
  maxmem: memoryMb(guest.config) * 1024 * 1024,
  maxdisk: maxDisk(world, guest),
  startedAt: guest.startedAt,
})

/** The last time at which the status daemon reported to the cluster. */
const lastReport = (world: World): number => {
  const interval = world.timing.statusInterval
  return interval <= 0 ? Number.POSITIVE_INFINITY : Math.floor(world.clock.now() / interval) * interval
}

/** Must be called before a guest changes, at the same instant: saves what the cluster knows of it until the next report. */
export const touch = (world: World, guest: Guest): void => {
  if (guest.changedAt <= lastReport(world)) guest.reported = reportedNow(world, guest)
  guest.changedAt = world.clock.now()
  known.delete(guest)
}

/** What the cluster knows of a guest; undefined right after its creation. */
export const reportedOf = (world: World, guest: Guest): Reported | undefined =>
  guest.changedAt <= lastReport(world) ? reportedNow(world, guest) : guest.reported
