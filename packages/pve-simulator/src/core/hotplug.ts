import { splitList } from "../schema/formats.ts"
import { isCdrom, isCloudInit, isDisk, isNet, parseNic, parsePairs, volumeOf } from "./guest-config.ts"
import type { Config } from "./state.ts"

type Value = Config[string]

/** Options that a running guest applies at once, whatever its `hotplug` says. */
const alwaysHot =
  /^(?:description|hookscript|lock|migrate_downtime|migrate_speed|name|onboot|protection|shares|startup|tags|vmstatestorage|cpuunits|cpulimit|unused\d+|cicustom|cipassword|citype|ciupgrade|ciuser|ipconfig\d+|nameserver|searchdomain|sshkeys)$/

const defaultFeatures = ["network", "disk", "usb"]

/** The kinds of devices that can be added, removed and changed while the guest runs. */
const featuresOf = (config: Config): ReadonlySet<string> => {
  const given = String(config["hotplug"] ?? "1")
  return new Set(given === "1" ? defaultFeatures : splitList(given))
}

/** A card that stays the same device can be moved to another network without a hotplug. */
export const isSameCard = (before: string, after: string): boolean => {
  const [a, b] = [parseNic(0, before), parseNic(0, after)]
  const [was, is] = [parsePairs(before), parsePairs(after)]
  const alike = ["queues", "mtu"].every((key) => Number(was.get(key) ?? 0) === Number(is.get(key) ?? 0))
  return alike && a.model === b.model && a.mac === b.mac && a.bridge !== undefined && b.bridge !== undefined
}

const coldDisk = /^(?:efidisk|ide|sata|tpmstate)\d+$/
const coldDiskOptions = ["aio", "cache", "discard", "iothread", "product", "queues", "ro", "ssd", "vendor"]

const diskTakesEffect = (config: Config, key: string, after: Value): boolean => {
  if (/^(?:efidisk|tpmstate)/.test(key)) return false
  const before = config[key] === undefined ? undefined : String(config[key])
  if (before !== undefined && (isCdrom(before) || isCloudInit(before))) return true
  if (before !== undefined && volumeOf(before) === volumeOf(String(after))) {
    const [was, is] = [parsePairs(before), parsePairs(String(after))]
    return coldDiskOptions.every((option) => was.get(option) === is.get(option))
  }
  return featuresOf(config).has("disk") && !coldDisk.test(key)
}

const isBallooning = (value: Value | undefined): boolean => value === undefined || Number(value) !== 0

/** Whether a running guest applies a changed option at once; otherwise the change is pending until its next start. */
export const changeTakesEffect = (config: Config, key: string, after: Value): boolean => {
  if (alwaysHot.test(key)) return true
  const features = featuresOf(config)
  const before = config[key]
  if (isNet(key)) return (before !== undefined && isSameCard(String(before), String(after))) || features.has("network")
  if (isDisk(key)) return diskTakesEffect(config, key, after)
  if (key === "hotplug") return !/memory|cpu/.test(`${String(before ?? "")} ${String(after)}`)
  if (key === "tablet") return features.has("usb")
  if (key === "vcpus") return features.has("cpu")
  if (key === "memory") return features.has("memory")
  return key === "balloon" && isBallooning(before) === isBallooning(after)
}

/** The same for a removed option. */
export const removalTakesEffect = (config: Config, key: string): boolean => {
  if (alwaysHot.test(key)) return true
  const features = featuresOf(config)
  if (isNet(key)) return features.has("network")
  if (isDisk(key)) return features.has("disk") && !coldDisk.test(key)
  if (key === "hotplug") return !/memory|cpu/.test(String(config[key]))
  if (key === "tablet") return features.has("usb")
  if (key === "vcpus") return features.has("cpu")
  if (key === "memory") return features.has("memory")
  return key === "balloon" && isBallooning(config[key])
}
