import type { NetworkSpec } from "@rangewright/domain"
import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { lookUntil } from "../tasks/settlement.ts"
import { nodeIn, recordOf, rows, text, words } from "../wire/read.ts"

export type VnetSpec = Extract<NetworkSpec, { readonly type: "vnet" }>

/** A node that should have a VNet but does not, with the reason it reports. */
export interface Lack {
  readonly node: string
  readonly words: string
}

/** The online nodes of a VNet's zone; only the wanted ones when given. */
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
    .flatMap((row) => nodeIn(row) ?? [])
    .filter((node) => (only.length === 0 || only.includes(node)) && wanted?.includes(node) !== false)
})

/** What the node reports is wrong with the VNet; undefined when it is up there. */
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

/** Nodes that lack the VNet now, of all online ones in its zone or of the wanted ones. A node that goes offline meanwhile is ignored. */
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

/** Polls until every node has the VNet or the time is up; returns the nodes that still lack it. */
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

/** How many lines of a reload's log a fault quotes. */
const quotedLines = 3

/** Errors of the last network reload of a node; empty when there are none, or they cannot be read. */
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

/** The fault of a VNet missing on nodes although it was applied: each with the reason it reports and its last reload's errors. */
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
