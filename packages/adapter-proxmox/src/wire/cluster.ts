import {
  isVmid,
  type ObservedMachine,
  type ObservedNode,
  type ObservedStorage,
  type ObservedZone,
  type PowerState,
} from "@rangewright/domain"
import { type Fields, flag, nodeIn, number, text, words } from "./read.ts"

const mebibyte = 1024 * 1024
const mib = (bytes: number | undefined): number => Math.round((bytes ?? 0) / mebibyte)

/** QEMU's states are finer than the cluster's; any that is neither running, stopped nor paused is unknown. */
export const powerOf = (status: string | undefined): PowerState => {
  if (status === "running" || status === "stopped") return status
  return status === "paused" || status === "suspended" ? "paused" : "unknown"
}

/** The power in the answer of `status/current`, where a VM that is paused counts as running, unlike in the cluster's list. */
export const livePowerOf = (status: Fields): PowerState =>
  powerOf(text(status, "qmpstatus")) === "paused" ? "paused" : powerOf(text(status, "status"))

/** A VM of `cluster/resources`; undefined for containers and malformed rows. A fresh clone has neither name nor state for up to 10 s. */
export const machineOf = (row: Fields): ObservedMachine | undefined => {
  const vmid = number(row, "vmid")
  const node = nodeIn(row)
  if (text(row, "type") !== "qemu" || vmid === undefined || !isVmid(vmid) || node === undefined) return undefined
  return {
    vmid,
    node,
    name: text(row, "name"),
    power: powerOf(text(row, "status")),
    template: flag(row, "template"),
    pool: text(row, "pool"),
    cpus: number(row, "maxcpu") ?? 0,
    memoryMiB: mib(number(row, "maxmem")),
    tags: words(row, "tags"),
  }
}

export const nodeOf = (row: Fields): ObservedNode | undefined => {
  const name = nodeIn(row)
  if (text(row, "type") !== "node" || name === undefined) return undefined
  return {
    name,
    online: text(row, "status") === "online",
    cpus: number(row, "maxcpu") ?? 0,
    cpuLoad: Math.min(1, Math.max(0, number(row, "cpu") ?? 0)),
    memoryMiB: mib(number(row, "maxmem")),
    memoryUsedMiB: mib(number(row, "mem")),
  }
}

export const storageOf = (row: Fields): ObservedStorage | undefined => {
  const name = text(row, "storage")
  const node = nodeIn(row)
  if (text(row, "type") !== "storage" || name === undefined || node === undefined) return undefined
  return {
    name,
    node,
    type: text(row, "plugintype") ?? "",
    shared: flag(row, "shared"),
    active: text(row, "status") === "available",
    totalBytes: number(row, "maxdisk") ?? 0,
    usedBytes: number(row, "disk") ?? 0,
    content: words(row, "content"),
  }
}

/** A zone of a node; newer versions list zones among networks of all kinds. */
export const zoneOf = (row: Fields): ObservedZone | undefined => {
  const node = nodeIn(row)
  const zone = text(row, "sdn") ?? (text(row, "network-type") === "zone" ? text(row, "network") : undefined)
  return zone === undefined || node === undefined ? undefined : { zone, node, state: zoneStateOf(text(row, "status")) }
}

/** A zone's state. When its node reports nothing clear, only its VNets show it. */
const zoneStateOf = (status: string | undefined): ObservedZone["state"] => {
  if (status === "ok" || status === "available") return "available"
  return status === "error" ? "error" : "pending"
}

/** The rows that the decoder accepts, in order. */
export const pick = <A>(source: readonly Fields[], decode: (row: Fields) => A | undefined): readonly A[] =>
  source.map(decode).filter((value) => value !== undefined)
