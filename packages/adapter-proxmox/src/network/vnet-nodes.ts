import type { NetworkSpec } from "@rangewright/domain"
import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { lookUntil } from "../tasks/settlement.ts"
import { recordOf, rows, text, words } from "../wire/read.ts"

export type VnetSpec = Extract<NetworkSpec, { readonly type: "vnet" }>

/** A node that is to have a VNet and has not, with its words for that. */
export interface Lack {
  readonly node: string
  readonly words: string
}

/** The online nodes of a VNet's zone; of these only where some are wanted. */
const nodesOf = Effect.fnUntraced(function* (
  client: PveClient,
  spec: VnetSpec,
  wanted: readonly string[] | undefined,
  doing: string,
): Effect.fn.Return<readonly string[], HypervisorFault> {
  const zone = yield* client.get(path`/cluster/sdn/zones/${spec.zone}`, {}, { doing })
  const only = words(recordOf(zone.data), "nodes")
  const nodes = yield* client.get("/nodes", {}, { doing })
  return rows(nodes.data)
    .filter((row) => text(row, "status") === "online")
    .flatMap((row) => text(row, "node") ?? [])
    .filter((node) => (only.length === 0 || only.includes(node)) && wanted?.includes(node) !== false)
})

/** What a node says of the VNet; undefined when it stands there. */
const lackOn = (
  client: PveClient,
  spec: VnetSpec,
  node: string,
  doing: string,
): Effect.Effect<Lack | undefined, HypervisorFault> =>
  client.get(path`/nodes/${node}/sdn/zones/${spec.zone}/content`, {}, { doing }).pipe(
    Effect.map((reply) => {
      const row = rows(reply.data).find((candidate) => text(candidate, "vnet") === spec.name)
      if (row === undefined) return { node, words: "missing" }
      const status = text(row, "status") ?? "available"
      return status === "available" ? undefined : { node, words: [status, text(row, "statusmsg")].filter(Boolean).join(", ") }
    }),
    // the node does not run the zone
    Effect.catchIf(
      ({ facts }) => facts.reason === "invalid" || facts.reason === "not-found",
      () => Effect.succeed({ node, words: "the zone is missing" }),
    ),
  )

/** Nodes that lack the VNet now, of all that are online in its zone or of the wanted ones. One that goes away meanwhile is no matter. */
const lacks = Effect.fnUntraced(function* (
  client: PveClient,
  spec: VnetSpec,
  wanted: readonly string[] | undefined,
  doing: string,
): Effect.fn.Return<readonly Lack[], HypervisorFault> {
  const seen = yield* Effect.forEach(yield* nodesOf(client, spec, wanted, doing), (node) =>
    lackOn(client, spec, node, doing).pipe(
      Effect.catchIf(
        ({ facts }) => facts.reason === "away",
        (fault) =>
          Effect.flatMap(nodesOf(client, spec, [node], doing), (online) =>
            online.length === 0 ? Effect.succeed(undefined) : Effect.fail(fault),
          ),
      ),
    ),
  )
  return seen.filter((lack) => lack !== undefined)
})

/** Looks for so long whether every node has the VNet; those that lack it in the end. */
export const lacksAfter = Effect.fnUntraced(function* (
  client: PveClient,
  spec: VnetSpec,
  wanted: readonly string[] | undefined,
  doing: string,
  seconds: number,
): Effect.fn.Return<readonly Lack[], HypervisorFault> {
  let found: readonly Lack[] = []
  yield* lookUntil(
    () =>
      Effect.map(lacks(client, spec, wanted, doing), (now) => {
        found = now
        return now.length === 0 ? true : undefined
      }),
    { seconds, fastest: 1, slowest: 5 },
  )
  return found
})

/** Most that a fault quotes of a reload's log. */
const quotedLines = 3

/** What the last network reload of a node complained of; empty when it did not, or when nobody can tell. */
const complaintOf = (client: PveClient, node: string, doing: string): Effect.Effect<string> =>
  Effect.gen(function* () {
    const tasks = yield* client.get(path`/nodes/${node}/tasks`, { typefilter: "srvreload", limit: 1 }, { doing })
    const [last = {}] = rows(tasks.data)
    const upid = text(last, "upid")
    const status = text(last, "status")
    if (upid === undefined || status === undefined || status === "OK") return ""
    const log = yield* client.get(path`/nodes/${node}/tasks/${upid}/log`, {}, { doing })
    const lines = rows(log.data).flatMap((row) => text(row, "t")?.trim() ?? [])
    const telling = lines.filter((line) => line !== "" && !line.startsWith("TASK "))
    return [...telling.slice(-quotedLines), status].join("; ").slice(0, 500)
  }).pipe(Effect.orElseSucceed(() => ""))

/** The fault of a VNet that nodes lack although it was applied: each with its words, and with those of its last reload. */
export const lackFault = Effect.fnUntraced(function* (
  client: PveClient,
  missing: readonly Lack[],
  doing: string,
): Effect.fn.Return<HypervisorFault> {
  const told = yield* Effect.forEach(missing.slice(0, 10), (lack) =>
    Effect.map(complaintOf(client, lack.node, doing), (complaint) =>
      complaint === "" ? `${lack.node}: ${lack.words}` : `${lack.node}: ${lack.words}; its network reload said: ${complaint}`,
    ),
  )
  return new HypervisorFault({
    doing,
    reason: "failed",
    detail: `it was applied, but is not usable on every node (${told.join(" | ")})`,
    hint: "Check the network reload task of that node (srvreload), fix what it reports, then deploy again.",
  })
})
