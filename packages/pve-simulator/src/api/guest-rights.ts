import { checkCpuModel } from "./cpu-models.ts"
import { newDisk } from "./new-disks.ts"
import { failure } from "../core/errors.ts"
import { isCdrom, isDisk, isNet, parseNic, volumeOf } from "../core/guest-config.ts"
import type { Config } from "../core/state.ts"
import { storageNamed, storageOf } from "../core/volumes.ts"
import { type Call } from "../http/call.ts"
import { demand, may } from "../http/permissions.ts"

/** Options that only root@pam may set. */
const rootOnly = new Set(["args", "lock", "hookscript", "affinity"])

const isRealDevice = (key: string, value: string): boolean =>
  (/^usb\d+$/.test(key) && !/spice|mapping=/.test(value)) || (/^serial\d+$/.test(key) && value !== "socket")

const privilegeOf = (key: string): string => {
  if (isDisk(key) || /^(unused\d+|boot|bootdisk|scsihw)$/.test(key)) return "VM.Config.Disk"
  if (isNet(key) || /^(ipconfig\d+|nameserver|searchdomain)$/.test(key)) return "VM.Config.Network"
  if (/^(cores|sockets|vcpus|cpu|cpulimit|cpuunits|numa\d*)$/.test(key)) return "VM.Config.CPU"
  if (/^(memory|balloon|shares)$/.test(key)) return "VM.Config.Memory"
  if (/^(cicustom|cipassword|citype|ciuser|ciupgrade|sshkeys)$/.test(key)) return "VM.Config.Cloudinit"
  if (
    /^(acpi|bios|machine|smbios1|hotplug|vga|tablet|audio0|hostpci\d+|usb\d+|serial\d+|parallel\d+|watchdog|rng0|arch|kvm)$/.test(
      key,
    )
  )
    return "VM.Config.HWType"
  return "VM.Config.Options"
}

/** Checks a right on a VM; for a new VM, also on its pool. */
export const demandOnGuest = (call: Call, vmid: number, privilege: string, pool?: string): void => {
  if (pool !== undefined && may(call.world, call.identity, `/pool/${pool}`, [privilege])) return
  demand(call.world, call.identity, `/vms/${vmid}`, [privilege])
}

/** Checks the rights on each option, on the storages of new disks and on the bridges of network devices. */
export const checkOptions = (call: Call, vmid: number, changes: Config, removed: readonly string[], pool?: string): void => {
  const { identity } = call
  for (const key of [...Object.keys(changes), ...removed]) {
    if (!identity.isRoot && rootOnly.has(key)) throw failure(`only root can set '${key}' config`)
    if (/^hostpci\d+$/.test(key) && !identity.isRoot && !String(changes[key]).includes("mapping="))
      throw failure(`only root can set '${key}' config for non-mapped devices`)
    const value = changes[key]
    if (!identity.isRoot && value !== undefined && isRealDevice(key, String(value)))
      throw failure(`only root can set '${key}' config for real devices`)
    if (key === "cpu") checkCpuModel(call, value, call.world.state.guests.get(vmid)?.config["cpu"])
    const cdrom = isDisk(key) && value !== undefined && isCdrom(String(value))
    demandOnGuest(call, vmid, cdrom ? "VM.Config.CDROM" : privilegeOf(key), pool)
    if (value === undefined) continue
    if (isDisk(key)) checkDisk(call, vmid, String(value))
    if (isNet(key)) checkBridge(call, String(value))
  }
}

const checkDisk = (call: Call, vmid: number, disk: string): void => {
  const volume = volumeOf(disk)
  if (volume === "none" || volume === "cdrom" || volume.startsWith("/")) return
  const id = storageOf(volume)
  storageNamed(call.world, id)
  if (newDisk(disk) !== undefined) demand(call.world, call.identity, `/storage/${id}`, ["Datastore.AllocateSpace"])
  else mayUseVolume(call, vmid, volume)
}

/** A caller who can see the storage may use its disc images; a disk of another VM needs the right to configure that VM's disks. */
const mayUseVolume = (call: Call, vmid: number, volid: string): void => {
  const { world, identity } = call
  const storage = `/storage/${storageOf(volid)}`
  if (may(world, identity, storage, ["Datastore.Allocate"])) return
  if (/:(?:iso|vztmpl|import)\//u.test(volid)) {
    demand(world, identity, storage, ["Datastore.AllocateSpace", "Datastore.Audit"], true)
    return
  }
  const owner = Number(/(?:vm|base)-(\d+)-/u.exec(volid)?.[1] ?? vmid)
  if (owner !== vmid) demand(world, identity, `/vms/${owner}`, ["VM.Config.Disk"])
}

/** In the access list, a node's bridge is a VNet of the zone `localnetwork`; an SDN VNet is in its own zone. */
export const checkBridge = (call: Call, text: string): void => {
  const nic = parseNic(0, text)
  if (nic.bridge === undefined) return
  const zone = call.world.state.sdn.config.vnets.get(nic.bridge)?.["zone"] ?? "localnetwork"
  const path = `/sdn/zones/${zone}/${nic.bridge}${nic.tag === undefined ? "" : `/${nic.tag}`}`
  demand(call.world, call.identity, path, ["SDN.Use"])
}
