import { nicNetwork } from "@rangewright/domain"
import { HypervisorFault } from "@rangewright/ports"
import * as Cache from "effect/Cache"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { blindness } from "../hypervisor/seek.ts"
import { type Fields, nodeIn, recordOf, rows, text } from "../wire/read.ts"
import { nicTexts } from "./observe-machines.ts"

/** The networks each guest of a node is attached to, by VMID; without templates, which never run. */
export type NodeGuests = ReadonlyMap<string, ReadonlySet<string>>

const readsAtOnce = 16

/** The configuration in force: changes pending until a running guest's next start do not count. */
const networksOf = Effect.fnUntraced(function* (
  client: PveClient,
  node: string,
  row: Fields,
  doing: string,
): Effect.fn.Return<readonly (readonly [string, ReadonlySet<string>])[], HypervisorFault> {
  const [type, vmid] = [text(row, "type") ?? "qemu", text(row, "vmid") ?? "0"]
  const view = type === "qemu" && text(row, "status") === "running" ? { current: true } : {}
  return yield* client.get(path`/nodes/${node}/${type}/${vmid}/config`, view, { doing }).pipe(
    Effect.map((reply) => {
      const networks = nicTexts(recordOf(reply.data)).flatMap((card) => nicNetwork(card.text) ?? [])
      return [[vmid, new Set(networks)] as const]
    }),
    Effect.catchIf(
      ({ facts }) => facts.reason === "not-found",
      () => Effect.succeed([]),
    ),
  )
})

/** Fails with `locked` while the cluster's list may lack guests: one that is not in it could be attached to anything. */
export const readNodeGuests = Effect.fnUntraced(function* (
  client: PveClient,
  node: string,
): Effect.fn.Return<NodeGuests, HypervisorFault> {
  const doing = `read the network cards on node ${node}`
  const doubt = yield* blindness(client)
  if (doubt !== undefined)
    return yield* new HypervisorFault({ doing, reason: "locked", detail: `a guest may be missing from the list: ${doubt}` })
  const reply = yield* client.get("/cluster/resources", { type: "vm" }, { doing })
  const here = rows(reply.data).filter((row) => nodeIn(row) === node && text(row, "template") !== "1")
  const read = yield* Effect.forEach(here, (row) => networksOf(client, node, row, doing), { concurrency: readsAtOnce })
  return new Map(read.flat())
})

/** VMIDs of the guests attached to one of these networks. */
export const hangingOn = (guests: NodeGuests, networks: ReadonlySet<string>): readonly string[] =>
  [...guests].flatMap(([vmid, on]) => ([...on].some((network) => networks.has(network)) ? [vmid] : []))

/** How long one observation is reused, in seconds: a node's bridges are handled one right after the other. */
const servesFor = 5

/** Reads the guests of nodes; callers within a few seconds share one read. What could not be read is read again. */
export const nodeGuestsLook = (client: PveClient): ((node: string) => Effect.Effect<NodeGuests, HypervisorFault>) => {
  const cache = Effect.runSync(
    Cache.makeWith((node: string) => readNodeGuests(client, node), {
      capacity: 256,
      timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.seconds(servesFor) : Duration.zero),
    }),
  )
  return (node) => Cache.get(cache, node)
}
