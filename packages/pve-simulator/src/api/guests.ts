import { failure } from "../core/errors.ts"
import {
  digestOf,
  guestName,
  hasAgent,
  isCdrom,
  isDisk,
  lockOf,
  nicsOf,
  ownDisks,
  reportedNow,
  volumeOf,
} from "../core/guest-config.ts"
import type { Config, Guest, Snapshot } from "../core/state.ts"
import { canLink, findVolume, isOnNode, storageNamed, storageOf } from "../core/volumes.ts"
import { nowSeconds, type World } from "../core/world.ts"
import { pressKey } from "../guest/boot.ts"
import { isCombination } from "../guest/keys.ts"
import { machineType } from "./guest-power.ts"
import { haOf } from "../ha/resources.ts"
import { findGuest, flag, guestOf, nodeOf, optionalText, text, vmidOf, type Call, type Routes } from "../http/call.ts"
import { may } from "../http/permissions.ts"

const qmpStatus = ({ status, paused }: Guest): string =>
  status === "stopped" ? "stopped" : paused === "asleep" ? "suspended" : paused ? "paused" : "running"

const MASK = "**********"

/** A configuration as the API shows it: with its password hidden, and its digest added. */
export const shownConfig = (config: Config): Config =>
  config["cipassword"] === undefined ? { ...config } : { ...config, cipassword: MASK }

/** The configuration of a snapshot, with the snapshot's own description. */
export const shownSnapshot = (snapshot: Snapshot): Config => ({
  ...shownConfig(snapshot.config),
  ...(snapshot.description === "" ? {} : { description: snapshot.description }),
  ...(snapshot.parent === undefined ? {} : { parent: snapshot.parent }),
  snaptime: snapshot.time,
})

const withPending = (guest: Guest): Config => {
  const out: Config = { ...guest.config }
  for (const [key, value] of Object.entries(guest.pending)) {
    if (value === undefined) delete out[key]
    else out[key] = value
  }
  return out
}

const usage = (world: World, guest: Guest) => {
  const running = guest.status === "running"
  const { maxcpu: cpus, maxmem, maxdisk } = reportedNow(world, guest)
  const mem = running ? Math.floor(maxmem * 0.6) : 0
  const uptime =
    running && guest.startedAt !== undefined ? Math.max(1, nowSeconds(world) - Math.floor(guest.startedAt / 1000)) : 0
  return { cpu: running ? 0.03 : 0, cpus, disk: 0, maxdisk, maxmem, mem, memhost: mem, netin: 0, netout: 0, uptime }
}

/** Pressure figures: guests never wait for processor, disk or memory. */
const pressure = {
  pressurecpufull: 0,
  pressurecpusome: 0,
  pressureiofull: 0,
  pressureiosome: 0,
  pressurememoryfull: 0,
  pressurememorysome: 0,
}

/** The traffic of a running guest per card. */
const nicTraffic = (guest: Guest) =>
  Object.fromEntries(nicsOf(guest.config).map(({ index }) => [`tap${guest.vmid}i${index}`, { netin: 0, netout: 0 }]))

/** A guest in the status calls, always up to date. */
export const guestStatus = (world: World, guest: Guest, full: boolean): Record<string, unknown> => {
  const lock = lockOf(guest.config)
  return {
    vmid: guest.vmid,
    name: guestName(guest),
    status: guest.status,
    ...usage(world, guest),
    ...(guest.config["tags"] === undefined ? {} : { tags: guest.config["tags"] }),
    ...(lock === undefined ? {} : { lock }),
    ...(guest.config["template"] === 1 ? { template: 1 } : {}),
    ...(guest.status === "running" ? { pid: guest.pid, diskread: 0, diskwrite: 0, ...pressure } : {}),
    ...(full ? { qmpstatus: qmpStatus(guest) } : {}),
  }
}

const list = (call: Call) => {
  const node = nodeOf(call).name
  const full = flag(call, "full")
  const out: unknown[] = []
  for (const guest of call.world.state.guests.values()) {
    if (guest.node === node && may(call.world, call.identity, `/vms/${guest.vmid}`, ["VM.Audit"]))
      out.push(guestStatus(call.world, guest, full))
  }
  return out
}

const managedOf = (world: World, { vmid }: Guest) => {
  const resource = haOf(world, vmid)
  return resource === undefined ? { managed: 0 } : { managed: 1, state: resource.state }
}

const current = (call: Call) => {
  const guest = guestOf(call)
  return {
    ...guestStatus(call.world, guest, true),
    ...(hasAgent(guest.config) ? { agent: 1 } : {}),
    ...(guest.status === "running" ? { nics: nicTraffic(guest) } : {}),
    ha: managedOf(call.world, guest),
    ...(guest.status === "running" ? { "running-machine": machineType, "running-qemu": "10.1.2" } : {}),
  }
}

const config = (call: Call): Config => {
  const guest = guestOf(call)
  const name = optionalText(call, "snapshot")
  if (name !== undefined && name !== "current") {
    const snapshot = guest.snapshots.get(name)
    if (snapshot === undefined) throw failure(`snapshot '${name}' does not exist`)
    return { ...shownSnapshot(snapshot), digest: digestOf(guest) }
  }
  return {
    ...shownConfig(flag(call, "current") ? guest.config : withPending(guest)),
    ...parentOf(guest.parent),
    digest: digestOf(guest),
  }
}

const parentOf = (parent: string | undefined): Config => (parent === undefined ? {} : { parent })

const pending = (call: Call) => {
  const guest = guestOf(call)
  const keys = new Set([...Object.keys(guest.config), ...Object.keys(guest.pending)])
  const shown = shownConfig(guest.config)
  const out: Record<string, unknown>[] = [...keys].map((key) => {
    const value = shown[key]
    const entry = { key, ...(value === undefined ? {} : { value }) }
    if (!Object.hasOwn(guest.pending, key)) return entry
    const next = guest.pending[key]
    return next === undefined
      ? { ...entry, delete: guest.forced?.includes(key) === true ? 2 : 1 }
      : { ...entry, pending: key === "cipassword" ? MASK : next }
  })
  return [...out, { key: "digest", value: digestOf(guest) }]
}

const children =
  "config cloudinit pending status unlink vncproxy termproxy migrate resize move rrd rrddata monitor agent snapshot spiceproxy sendkey firewall mtunnel remote_migrate"
    .split(" ")
    .map((subdir) => ({ subdir }))

const statusChildren = ["current", "start", "stop", "reset", "shutdown", "suspend", "reboot"].map((subdir) => ({ subdir }))

const feature = (call: Call) => {
  const guest = guestOf(call)
  const wanted = text(call, "feature")
  const disks = ownDisks(guest.config).filter(([, disk]) => !isCdrom(disk))
  const volumes = disks.map(([, disk]) => findVolume(call.world, guest.node, volumeOf(disk)))
  const storages = disks.map(([, disk]) => storageNamed(call.world, storageOf(volumeOf(disk))))
  const has =
    wanted === "copy" ||
    (wanted === "clone" &&
      guest.config["template"] === 1 &&
      volumes.every((volume, i) => volume !== undefined && canLink(storages[i]!))) ||
    (wanted === "snapshot" && guest.config["template"] !== 1 && canSnapshot(call.world, guest))
  const nodes = [...call.world.state.nodes.keys()].filter(
    (node) => node === guest.node || storages.every((storage) => storage.shared && isOnNode(storage, node)),
  )
  return { hasFeature: has ? 1 : 0, nodes }
}

/** Whether all disks of a guest are on storage that supports snapshots. */
export const canSnapshot = (world: World, guest: Guest): boolean =>
  Object.entries(guest.config)
    .filter(([key, value]) => isDisk(key) && !isCdrom(String(value)))
    .every(([, value]) => {
      const volume = findVolume(world, guest.node, volumeOf(String(value)))
      const storage = world.state.storages.get(storageOf(volumeOf(String(value))))
      return storage !== undefined && storage.type !== "lvm" && (storage.type !== "dir" || volume?.format === "qcow2")
    })

const cloudinit = (call: Call) => {
  const guest = guestOf(call)
  const shown = shownConfig(guest.config)
  return ["ciuser", "cipassword", "sshkeys", "citype", "searchdomain", "nameserver"]
    .filter((key) => shown[key] !== undefined)
    .map((key) => ({ key, value: shown[key] }))
}

const cloudinitDump = (call: Call): string => {
  const guest = guestOf(call)
  const name = guestName(guest)
  if (text(call, "type") === "meta") return `instance-id: ${String(guest.config["vmgenid"] ?? guest.vmid)}\n`
  if (text(call, "type") === "network") return "version: 1\nconfig: []\n"
  const user = guest.config["ciuser"]
  return `#cloud-config\nhostname: ${name}\nmanage_etc_hosts: true\nfqdn: ${name}\n${user === undefined ? "" : `user: ${String(user)}\n`}chpasswd:\n  expire: False\nusers:\n  - default\npackage_upgrade: true\n`
}

const monitor = (call: Call): string => {
  const guest = findGuest(call)
  return guest?.status === "running" ? "" : `ERROR: VM ${vmidOf(call)} not running\n`
}

const sendkey = (call: Call): null => {
  const guest = findGuest(call)
  if (guest?.status !== "running") throw failure(`VM ${vmidOf(call)} not running`)
  const keys = text(call, "key")
  if (!isCombination(keys)) throw failure(`invalid parameter: ${keys}`)
  pressKey(call.world, guest, keys)
  return null
}

/** Reads of VMs: lists, status, configuration, pending changes. */
export const guestRoutes: Routes = {
  "GET /nodes/{node}/qemu": list,
  "GET /nodes/{node}/qemu/{vmid}": (call) => (guestOf(call), children),
  "GET /nodes/{node}/qemu/{vmid}/status": (call) => (guestOf(call), statusChildren),
  "GET /nodes/{node}/qemu/{vmid}/status/current": current,
  "GET /nodes/{node}/qemu/{vmid}/config": config,
  "GET /nodes/{node}/qemu/{vmid}/pending": pending,
  "GET /nodes/{node}/qemu/{vmid}/feature": feature,
  "GET /nodes/{node}/qemu/{vmid}/cloudinit": cloudinit,
  "GET /nodes/{node}/qemu/{vmid}/cloudinit/dump": cloudinitDump,
  "GET /nodes/{node}/qemu/{vmid}/rrddata": (call) => (guestOf(call), []),
  "POST /nodes/{node}/qemu/{vmid}/monitor": monitor,
  "PUT /nodes/{node}/qemu/{vmid}/sendkey": sendkey,
}
