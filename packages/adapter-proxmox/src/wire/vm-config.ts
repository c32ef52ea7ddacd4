import {
  descriptionWith,
  type DiskIdentity,
  diskTexts,
  type Hardware,
  type MachineDetail,
  type MachineSettings,
  type Nic,
  smbiosTexts,
  type Vmid,
} from "@rangewright/domain"
import type { Params } from "../client/form.ts"
import { type Fields, flag, number, text, words } from "./read.ts"

const pairs = (value: string): ReadonlyMap<string, string> =>
  new Map(
    value.split(",").map((part) => {
      const at = part.indexOf("=")
      return at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)]
    }),
  )

const macPattern = /^[0-9A-F]{2}(?::[0-9A-F]{2}){5}$/iu

/** `virtio=02:…,bridge=vmbr1001,tag=10`, or with `model=` and `macaddr=`. */
const nicOf = (index: number, value: string): Nic => {
  const parts = pairs(value)
  const model = parts.get("model") ?? [...parts].find(([, v]) => macPattern.test(v))?.[0] ?? value.split(",")[0] ?? ""
  const tag = Number(parts.get("tag"))
  return {
    index,
    model,
    mac: (parts.get("macaddr") ?? parts.get(model) ?? "").toUpperCase(),
    bridge: parts.get("bridge") ?? "",
    tag: Number.isInteger(tag) && tag > 0 ? tag : undefined,
    firewall: parts.get("firewall") === "1",
  }
}

const nicText = (nic: Nic): string =>
  [
    `${nic.model}=${nic.mac}`,
    `bridge=${nic.bridge}`,
    ...(nic.tag === undefined ? [] : [`tag=${nic.tag}`]),
    ...(nic.firewall ? ["firewall=1"] : []),
  ].join(",")

/** Keys of a card that the service decides on, besides its model. */
const ownNicKeys: ReadonlySet<string> = new Set(["model", "macaddr", "bridge", "tag", "firewall"])

/**
 * The new line of a card. What others have set on the same card stays: rate, queues, MTU. A new virtio card gets the MTU of its network,
 * which is 1450 on a VNet: with the 1500 that guests assume, full packets between nodes would be lost. An existing card is not given it,
 * because the hypervisor would unplug it from the running VM.
 */
const nicLine = (nic: Nic, before: string | undefined): string => {
  const had = before === undefined ? undefined : nicOf(nic.index, before)
  if (before === undefined || had?.model !== nic.model || had.mac !== nic.mac.toUpperCase())
    return nic.model === "virtio" ? `${nicText(nic)},mtu=1` : nicText(nic)
  const kept = before.split(",").filter((part) => {
    const [key = ""] = part.split("=", 1)
    return key !== nic.model && !ownNicKeys.has(key)
  })
  return [nicText(nic), ...kept].join(",")
}

const nicsOf = (config: Fields): readonly Nic[] =>
  Array.from({ length: 32 }, (_, index) => ({ index, value: text(config, `net${index}`) })).flatMap(({ index, value }) =>
    value === undefined ? [] : [nicOf(index, value)],
  )

const diskKeys = ["scsi", "virtio", "sata", "ide"].flatMap((bus) =>
  Array.from({ length: bus === "scsi" ? 31 : bus === "virtio" ? 16 : bus === "sata" ? 6 : 4 }, (_, n) => `${bus}${n}`),
)

/** Disks, without CD drives and cloud-init images. */
const disksOf = (config: Fields): readonly { readonly slot: string; readonly value: string }[] =>
  diskKeys.flatMap((slot) => {
    const value = text(config, slot)
    return value === undefined || value.includes("media=cdrom") || value.startsWith("none") ? [] : [{ slot, value }]
  })

/** Storage of the first disk. */
const storageOf = (config: Fields): string | undefined =>
  disksOf(config)
    .map(({ value }) => value.slice(0, Math.max(0, value.indexOf(":"))))
    .find((storage) => storage !== "")

/** Serial numbers and models are percent-encoded; a sequence that is not valid stays as it is. */
const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

const identityOf = ({ slot, value }: { readonly slot: string; readonly value: string }): DiskIdentity => {
  const parts = pairs(value)
  const said = diskTexts.flatMap((name) => {
    const is = parts.get(name)
    return is === undefined || is === "" ? [] : [[name, decoded(is)] as const]
  })
  return { slot, ...Object.fromEntries(said) }
}

/** `uuid=…,manufacturer=RGVsbCBJbmMu,base64=1`, without the UUID. */
const smbiosOf = (config: Fields): Hardware["smbios"] => {
  const parts = pairs(text(config, "smbios1") ?? "")
  const isCoded = parts.get("base64") === "1"
  return Object.fromEntries(
    smbiosTexts.flatMap((name) => {
      const is = parts.get(name)
      if (is === undefined || is === "") return []
      return [[name, isCoded ? Buffer.from(is, "base64").toString("utf8") : is] as const]
    }),
  )
}

const hardwareOf = (config: Fields): Hardware => ({
  cpu: text(config, "cpu"),
  smbios: smbiosOf(config),
  disks: disksOf(config).map(identityOf),
})

/** The option with other texts and its existing UUID; undefined when it would be empty. */
const smbiosText = (config: Fields, smbios: Hardware["smbios"]): string | undefined => {
  const uuid = pairs(text(config, "smbios1") ?? "").get("uuid")
  const texts = smbiosTexts.flatMap((name) =>
    smbios[name] === undefined ? [] : [`${name}=${Buffer.from(smbios[name], "utf8").toString("base64")}`],
  )
  const parts = [...(uuid === undefined ? [] : [`uuid=${uuid}`]), ...texts, ...(texts.length === 0 ? [] : ["base64=1"])]
  return parts.length === 0 ? undefined : parts.join(",")
}

/** The disk with another identity, and everything else unchanged. */
const diskText = (value: string, identity: DiskIdentity): string => {
  const names: ReadonlySet<string> = new Set(diskTexts)
  const kept = value.split(",").filter((part) => !names.has(part.split("=")[0] ?? ""))
  const said = diskTexts.flatMap((name) => {
    const is = identity[name]
    if (is === undefined) return []
    return [`${name}=${name === "serial" || name === "model" ? encodeURIComponent(is) : is}`]
  })
  return [...kept, ...said].join(",")
}

const sameTexts = (a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>, names: readonly string[]) =>
  names.every((name) => a[name] === b[name])

/** The options that change a VM's visible hardware to what is wanted. Disks that do not exist, or are not named, are left alone. */
const hardwareChange = (config: Fields, want: Hardware | undefined): ReadonlyMap<string, string | undefined> => {
  const changes = new Map<string, string | undefined>()
  if (want === undefined) return changes
  const have = hardwareOf(config)
  if (have.cpu !== want.cpu) changes.set("cpu", want.cpu)
  if (!sameTexts(have.smbios, want.smbios, smbiosTexts)) changes.set("smbios1", smbiosText(config, want.smbios))
  for (const { slot, value } of disksOf(config)) {
    const identity = want.disks.find((disk) => disk.slot === slot)
    if (identity !== undefined && !sameTexts({ ...identityOf({ slot, value }) }, { ...identity }, diskTexts))
      changes.set(slot, diskText(value, identity))
  }
  return changes
}

/** `memory` is a number, a text, or a property string such as `current=2048`. */
const memoryOf = (config: Fields): number => Number(/\d+/u.exec(text(config, "memory") ?? "512")?.[0] ?? 512)

const coresOf = (config: Fields): number => (number(config, "cores") ?? 1) * (number(config, "sockets") ?? 1)

/** Absent and 1 mean network, disk and usb; 0 means none. */
const hasHotCards = (config: Fields): boolean =>
  (text(config, "hotplug") ?? "1") === "1" || words(config, "hotplug").includes("network")

/** Absent means enabled. */
const hasTablet = (config: Fields): boolean => text(config, "tablet") === undefined || flag(config, "tablet")

export const detailOf = (node: string, vmid: Vmid, config: Fields): MachineDetail => ({
  vmid,
  node,
  name: text(config, "name") ?? "",
  template: flag(config, "template"),
  description: text(config, "description") ?? "",
  tags: words(config, "tags"),
  cpus: coresOf(config),
  memoryMiB: memoryOf(config),
  balloonMiB: number(config, "balloon"),
  nics: nicsOf(config),
  coldCards: !hasHotCards(config),
  lock: text(config, "lock"),
  digest: text(config, "digest"),
  generation: text(config, "vmgenid"),
  storage: storageOf(config),
  tablet: hasTablet(config),
  memoryStorage: text(config, "vmstatestorage"),
  hardware: hardwareOf(config),
})

const sameNic = (a: Nic, b: Nic): boolean => nicText(a) === nicText(b)
const sameTags = (a: readonly string[], b: readonly string[]): boolean =>
  [...new Set(a)].toSorted().join(";") === [...new Set(b.map((tag) => tag.toLowerCase()))].toSorted().join(";")

/**
 * The parameters of one call that bring a configuration to the settings; undefined when nothing differs. Leaves alone what the service does
 * not manage, such as the notes around our line in the description. Quirks of the API: tags come back lower-cased and sorted, and an absent
 * tablet is an enabled one.
 */
export const settingsChange = (config: Fields, want: MachineSettings): Params | undefined => {
  const have = nicsOf(config)
  const changes: Record<string, string | number | boolean> = {}
  const removed: string[] = []
  if (coresOf(config) !== want.cpus) {
    changes["cores"] = want.cpus
    if ((number(config, "sockets") ?? 1) !== 1) changes["sockets"] = 1
  }
  if (memoryOf(config) !== want.memoryMiB) changes["memory"] = want.memoryMiB
  const balloon = number(config, "balloon")
  if (want.balloonMiB === undefined && balloon !== undefined) removed.push("balloon")
  if (want.balloonMiB !== undefined && want.balloonMiB !== balloon) changes["balloon"] = want.balloonMiB
  for (const nic of want.nics) {
    const existing = have.find((other) => other.index === nic.index)
    if (existing === undefined || !sameNic(existing, nic))
      changes[`net${nic.index}`] = nicLine(nic, text(config, `net${nic.index}`))
  }
  removed.push(...have.filter((nic) => want.nics.every((other) => other.index !== nic.index)).map((nic) => `net${nic.index}`))
  const description = descriptionWith(want.description, text(config, "description") ?? "")
  if (description !== undefined) changes["description"] = description
  if (!sameTags(words(config, "tags"), want.tags)) changes["tags"] = want.tags.join(",")
  if (hasTablet(config) !== want.tablet) changes["tablet"] = want.tablet
  for (const [key, value] of hardwareChange(config, want.hardware)) {
    if (value === undefined) removed.push(key)
    else changes[key] = value
  }
  if (Object.keys(changes).length === 0 && removed.length === 0) return undefined
  const digest = text(config, "digest")
  return {
    ...changes,
    ...(removed.length === 0 ? {} : { delete: removed.join(",") }),
    ...(digest === undefined ? {} : { digest }),
  }
}
