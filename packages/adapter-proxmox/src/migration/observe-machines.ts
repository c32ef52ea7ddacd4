import { type InstallationMachine, isNicKey, isVmid, type NicText } from "@rangewright/domain"
import type { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { type Fields, flag, nodeIn, number, recordOf, rows, text, words } from "../wire/read.ts"

/** Configurations read at once; the client has its own limit for each node. */
const readsAtOnce = 16

/** The network cards of a configuration, by index. */
export const nicTexts = (config: Fields): readonly NicText[] =>
  Object.keys(config)
    .filter(isNicKey)
    .flatMap((nic) => {
      const value = text(config, nic)
      return value === undefined ? [] : [{ nic, text: value }]
    })
    .sort((a, b) => Number(a.nic.slice(3)) - Number(b.nic.slice(3)))

interface GuestConfig {
  /** The configuration in force; for a stopped guest, the one it starts with. */
  readonly config: Fields
  readonly waiting: readonly NicText[]
}

const readContainer = (client: PveClient, at: string, doing: string): Effect.Effect<GuestConfig, HypervisorFault> =>
  Effect.map(client.get(`${at}/config`, {}, { doing }), (reply) => ({ config: recordOf(reply.data), waiting: [] }))

/** One call shows both what is in force and what is pending until the next start. */
const readVm = (client: PveClient, at: string, running: boolean, doing: string): Effect.Effect<GuestConfig, HypervisorFault> =>
  Effect.map(client.get(`${at}/pending`, {}, { doing }), (reply) => {
    const all = rows(reply.data)
    const changed = all.filter((row) => row["pending"] !== undefined || flag(row, "delete"))
    const entry = (row: Fields, of: "value" | "pending") => [text(row, "key") ?? "", row[of]] as const
    const inForce = all.filter((row) => row["value"] !== undefined).map((row) => entry(row, "value"))
    const next = { ...Object.fromEntries(inForce), ...Object.fromEntries(changed.map((row) => entry(row, "pending"))) }
    if (!running) return { config: next, waiting: [] }
    const waiting = changed.flatMap((row) => {
      const nic = text(row, "key") ?? ""
      return isNicKey(nic) ? [{ nic, text: text(row, "pending") ?? "" }] : []
    })
    return { config: Object.fromEntries(inForce), waiting }
  })

const isGone = (fault: HypervisorFault): boolean => fault.facts.reason === "not-found"
const isHidden = (fault: HypervisorFault): boolean =>
  isGone(fault) || fault.facts.reason === "away" || fault.facts.reason === "forbidden"

const readSnapshots = Effect.fnUntraced(function* (
  client: PveClient,
  at: string,
  doing: string,
): Effect.fn.Return<InstallationMachine["snapshots"], HypervisorFault> {
  const list = yield* client.get(`${at}/snapshot`, {}, { doing })
  const names = rows(list.data).flatMap((row) => text(row, "name") ?? [])
  return yield* Effect.forEach(
    names.filter((name) => name !== "current"),
    (name) =>
      client.get(at + path`/snapshot/${name}/config`, {}, { doing }).pipe(
        Effect.map((reply) => ({ name, nics: nicTexts(recordOf(reply.data)) })),
        Effect.catchIf(isGone, () => Effect.succeed({ name, nics: [] })),
      ),
  )
})

/** Every guest of the cluster with its network cards, except those that disappeared while reading. */
export const observeMachines = Effect.fnUntraced(function* (
  client: PveClient,
  snapshots: boolean,
): Effect.fn.Return<readonly InstallationMachine[], HypervisorFault> {
  const reply = yield* client.get("/cluster/resources", { type: "vm" }, { doing: "list the machines of the cluster" })
  const read = Effect.fnUntraced(function* (row: Fields): Effect.fn.Return<readonly InstallationMachine[], HypervisorFault> {
    const [vmid, node, type] = [number(row, "vmid"), nodeIn(row), text(row, "type")]
    if (vmid === undefined || !isVmid(vmid) || node === undefined || (type !== "qemu" && type !== "lxc")) return []
    const at = path`/nodes/${node}/${type}/${vmid}`
    const doing = `read the network cards of VM ${vmid}`
    const running = text(row, "status") === "running"
    const found = yield* (type === "qemu" ? readVm(client, at, running, doing) : readContainer(client, at, doing)).pipe(
      Effect.catchIf(isHidden, () => Effect.succeed(undefined)),
    )
    const config = found?.config
    const wanted = snapshots && type === "qemu" && config !== undefined && !flag(row, "template")
    return [
      {
        vmid,
        node,
        name: text(config ?? {}, type === "qemu" ? "name" : "hostname") ?? text(row, "name") ?? "",
        kind: type === "qemu" ? "vm" : "container",
        template: flag(row, "template") || flag(config ?? {}, "template"),
        pool: text(row, "pool"),
        tags: words(config ?? row, "tags"),
        running,
        lock: text(config ?? {}, "lock"),
        description: text(config ?? {}, "description") ?? "",
        nics: config === undefined ? undefined : nicTexts(config),
        ...(found === undefined || found.waiting.length === 0 ? {} : { waiting: found.waiting }),
        snapshots: wanted ? yield* readSnapshots(client, at, doing).pipe(Effect.catchIf(isHidden, () => Effect.succeed([]))) : [],
      },
    ]
  })
  const found = yield* Effect.forEach(rows(reply.data), read, { concurrency: readsAtOnce })
  return found.flat().sort((a, b) => a.vmid - b.vmid)
})
