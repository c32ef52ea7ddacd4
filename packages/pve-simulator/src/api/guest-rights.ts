import { checkCpuModel } from "./cpu-models.ts"
import { newDisk } from "./new-disks.ts"
import { badParameter, failure, PveError } from "../core/errors.ts"
import { isCdrom, isCloudInit, isDisk, isNet, parseNic, parsePairs, volumeOf } from "../core/guest-config.ts"
import type { Config } from "../core/state.ts"
import { storageNamed, storageOf } from "../core/volumes.ts"
import { type Call } from "../http/call.ts"
import { demand, may } from "../http/permissions.ts"
import { checkVolumeAccess } from "./volume-access.ts"

/** The privilege that options of a kind need; of several, one is enough. Only root@pam may set an option of no kind. */
const kinds: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(?:cores|cpu|cpulimit|cpuunits|numa\d*|smp|sockets|vcpus)$/u, ["VM.Config.CPU"]],
  [/^(?:balloon|memory|shares)$/u, ["VM.Config.Memory"]],
  [
    /^(?:acpi|audio0|hotplug|kvm|machine|rng0|scsihw|smbios1|tablet|vga|watchdog|(?:hostpci|serial|usb)\d+)$/u,
    ["VM.Config.HWType"],
  ],
  [
    /^(?:agent|autostart|bios|description|keyboard|localtime|migrate_downtime|migrate_speed|name|onboot|ostype|protection|reboot|startdate|startup|tags|tdf|template)$/u,
    ["VM.Config.Options"],
  ],
  [/^freeze$/u, ["VM.PowerMgmt"]],
  [/^(?:boot|bootdisk|vmstatestorage|(?:unused|virtiofs)\d+)$/u, ["VM.Config.Disk"]],
  [/^net\d+$/u, ["VM.Config.Network"]],
  [
    /^(?:cicustom|cipassword|citype|ciupgrade|ciuser|ipconfig\d+|nameserver|searchdomain|sshkeys)$/u,
    ["VM.Config.Cloudinit", "VM.Config.Network"],
  ],
]

type Deed = "set" | "modify" | "delete"

/** Refuses a device of the host to everybody but root@pam; devices that are mapped for the cluster need a right on their mapping. */
const checkDevice = (call: Call, key: string, value: string, deed: Deed = "set"): void => {
  const [, kind = ""] = /^(hostpci|serial|usb)\d+$/u.exec(key) ?? []
  if (kind === "" || call.identity.isRoot) return
  const mapping = parsePairs(value).get("mapping")
  if (mapping !== undefined)
    return demand(call.world, call.identity, `/mapping/${kind.replace("host", "")}/${mapping}`, ["Mapping.Use"])
  if (kind === "serial" ? value === "socket" : kind === "usb" && /spice/iu.test(value)) return
  const verb = kind === "serial" ? deed : "set"
  throw failure(`only root can ${verb} '${key}' config for ${kind === "hostpci" ? "non-mapped" : "real"} devices`)
}

/** Checks a right on a VM; for a new VM, also on its pool. Of several privileges all are needed, or any. */
const demandOnGuest = (call: Call, vmid: number, privileges: readonly string[], pool?: string, any = false): void => {
  if (pool !== undefined && may(call.world, call.identity, `/pool/${pool}`, privileges, any)) return
  demand(call.world, call.identity, `/vms/${vmid}`, privileges, any)
}

/** Whether the caller has a right on a new VM: on its number or on its pool. Refuses without naming what is missing. */
export const demandNewGuest = (call: Call, vmid: number, privilege: string, pool: string | undefined): void => {
  const paths = [`/vms/${vmid}`, ...(pool === undefined ? [] : [`/pool/${pool}`])]
  if (!paths.some((path) => may(call.world, call.identity, path, [privilege]))) throw new PveError(403, "Permission check failed")
}

const checkOption = (call: Call, vmid: number, key: string, pool?: string): void => {
  if (isDisk(key) || call.identity.isRoot) return
  const privileges = kinds.find(([keys]) => keys.test(key))?.[1]
  if (privileges === undefined) throw failure(`only root can set '${key}' config`)
  demandOnGuest(call, vmid, privileges, pool, true)
  if (key === "startup") demand(call.world, call.identity, "/", ["Sys.Modify"])
}

/** Checks the rights on the options of a new VM, on the storages of its disks and on its bridges. Drives need no right of their own. */
export const checkNewOptions = (call: Call, vmid: number, options: Config, pool?: string): void => {
  for (const [key, value] of Object.entries(options)) if (isDisk(key)) checkDisk(call, vmid, String(value))
  for (const key of Object.keys(options)) checkOption(call, vmid, key, pool)
  for (const [key, value] of Object.entries(options)) checkDevice(call, key, String(value))
  for (const [key, value] of Object.entries(options)) if (isNet(key)) checkBridge(call, String(value))
  if (options["cpu"] !== undefined) checkCpuModel(call, options["cpu"], undefined)
}

/** Checks the rights on changed and removed options, and on what they refer to before and after. */
export const checkChanges = (call: Call, vmid: number, changes: Config, removed: readonly string[]): void => {
  const before = call.world.state.guests.get(vmid)?.config ?? {}
  for (const key of [...removed, ...Object.keys(changes)]) checkOption(call, vmid, key)
  for (const [key, value] of Object.entries(changes)) if (isDisk(key)) checkDisk(call, vmid, String(value))
  for (const [key, value] of Object.entries(changes)) if (isNet(key)) checkBridge(call, String(value))
  if (changes["cpu"] !== undefined) checkCpuModel(call, changes["cpu"], before["cpu"])
  for (const key of [...removed, ...Object.keys(changes)])
    for (const value of [before[key], changes[key]])
      if (value !== undefined) checkUsed(call, vmid, key, String(value), removed.includes(key) ? "delete" : "modify")
}

const checkUsed = (call: Call, vmid: number, key: string, value: string, deed: Deed): void => {
  if (isNet(key)) checkBridge(call, value)
  else if (isDisk(key)) demandOnGuest(call, vmid, privilegesOfDrive(value))
  else checkDevice(call, key, value, deed)
}

const privilegesOfDrive = (drive: string): readonly string[] => {
  if (isCloudInit(drive)) return ["VM.Config.Cloudinit", "VM.Config.CDROM"]
  return [isCdrom(drive) ? "VM.Config.CDROM" : "VM.Config.Disk"]
}

/** Checks the rights on the storage of a drive's volume. Nothing is needed for a new cloud-init drive. */
const checkDisk = (call: Call, vmid: number, disk: string): void => {
  const { world, identity } = call
  const volume = volumeOf(disk)
  if (volume === "none") return
  if (volume === "cdrom") return demand(world, identity, "/", ["Sys.Console"])
  if (volume.startsWith("/")) {
    if (!identity.isRoot)
      throw failure("Only root can pass arbitrary filesystem paths. at /usr/share/perl5/PVE/Storage.pm line 580.")
    return
  }
  const id = storageOf(volume)
  const wanted = newDisk(disk)
  if (wanted?.gib === "cloudinit") return void storageNamed(world, id)
  if (wanted === undefined) {
    storageNamed(world, id)
    return checkVolumeAccess(call, volume, vmid)
  }
  const source = parsePairs(disk).get("import-from")
  if (source?.includes(":") === true) checkSource(call, vmid, source)
  demand(world, identity, `/storage/${id}`, ["Datastore.AllocateSpace"])
  if (!storageNamed(world, id).content.includes("images"))
    throw badParameter({ storage: `storage '${id}' does not support vm images` })
}

/** A disk of a VM may be imported with the right to clone that VM. */
const checkSource = (call: Call, vmid: number, source: string): void => {
  const owner = /(?:vm|base)-(\d+)-[^/]*$/u.exec(source)?.[1]
  if (owner === undefined) checkVolumeAccess(call, source, vmid)
  else demand(call.world, call.identity, `/vms/${owner}`, ["VM.Clone"])
}

/** In the access list, a node's bridge is a VNet of the zone `localnetwork`; an SDN VNet is in its own zone. */
export const checkBridge = (call: Call, text: string): void => {
  const nic = parseNic(0, text)
  if (nic.bridge === undefined) return
  const zone = call.world.state.sdn.config.vnets.get(nic.bridge)?.["zone"] ?? "localnetwork"
  const path = `/sdn/zones/${zone}/${nic.bridge}${nic.tag === undefined ? "" : `/${nic.tag}`}`
  demand(call.world, call.identity, path, ["SDN.Use"])
}
