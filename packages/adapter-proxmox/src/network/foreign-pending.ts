import { listed } from "@rangewright/domain"
import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { child, type Fields, flag, nodeIn, rows, text } from "../wire/read.ts"
import { isOurNetwork } from "./mark.ts"
import { foreignEdits, readNetwork } from "./node-network.ts"

/** Pending changes that are ours, besides VNets and bridges that carry our mark. */
export interface OwnPending {
  /** A zone that we create or remove; we never change one. */
  readonly zone?: string
  /** Bridges that we create or remove. */
  readonly bridges?: readonly string[]
}

/** Changes of others that an apply would put into force, worded for people: `zone lab is new`, `vmbr7 on node pve2 is edited`. */
export interface ForeignPending {
  readonly sdn: readonly string[]
  readonly nodes: readonly string[]
}

const nodesAtOnce = 4

/** In the pending view a row holds what is in force, and `pending` what would replace it. */
const configured = (row: Fields, key: string): Fields => {
  const pending = child(row, "pending")
  return Object.hasOwn(pending, key) ? pending : row
}

/** `zone lab is new` for each pending row. */
const waiting = (sort: string, key: string, data: readonly Fields[]): readonly string[] =>
  data.flatMap((row) => {
    const state = text(row, "state")
    return state === undefined ? [] : [`${sort} ${text(row, key) ?? "?"} is ${state}`]
  })

const pendingSdn = Effect.fnUntraced(function* (
  client: PveClient,
  own: OwnPending,
  doing: string,
): Effect.fn.Return<readonly string[], HypervisorFault> {
  const read = (url: string) => Effect.map(client.get(url, { pending: true }, { doing }), (reply) => rows(reply.data))
  const zones = yield* read("/cluster/sdn/zones")
  const vnets = yield* read("/cluster/sdn/vnets")
  const controllers = yield* read("/cluster/sdn/controllers")
  // VLAN-aware VNets, like ours, have no subnets
  const withSubnets = vnets.filter(
    (row) =>
      text(row, "state") !== "deleted" && !flag(configured(row, "vlanaware"), "vlanaware") && text(row, "vnet") !== undefined,
  )
  const subnets = yield* Effect.forEach(withSubnets, (row) => read(path`/cluster/sdn/vnets/${text(row, "vnet") ?? ""}/subnets`))
  return [
    ...waiting(
      "zone",
      "zone",
      zones.filter((row) => text(row, "zone") !== own.zone || text(row, "state") === "changed"),
    ),
    ...waiting(
      "VNet",
      "vnet",
      // we create VNets and remove them, and never change one
      vnets.filter((row) => !isOurNetwork(text(configured(row, "alias"), "alias")) || text(row, "state") === "changed"),
    ),
    ...waiting("controller", "controller", controllers),
    ...waiting("subnet", "subnet", subnets.flat()),
  ]
})

/** Pending edits on nodes that an SDN apply would reload; it does not reach an unreachable node. */
const pendingOnNodes = Effect.fnUntraced(function* (
  client: PveClient,
  own: OwnPending,
  doing: string,
): Effect.fn.Return<readonly string[], HypervisorFault> {
  const nodes = rows((yield* client.get("/nodes", {}, { doing })).data)
    .filter((row) => text(row, "status") === "online")
    .flatMap((row) => nodeIn(row) ?? [])
  const edits = yield* Effect.forEach(
    nodes,
    (node) =>
      readNetwork(client, node, doing).pipe(
        Effect.map((network) => foreignEdits(network, own.bridges).map((name) => `${name} on node ${node} is edited`)),
        Effect.catchIf(
          ({ facts }) => facts.reason === "away",
          () => Effect.succeed([]),
        ),
      ),
    { concurrency: nodesAtOnce },
  )
  return edits.flat()
})

/**
 * Everything pending in the cluster that is not ours and would come into force with the next SDN apply: the whole cluster shares one set of
 * pending SDN changes, and the apply reloads every node's own network too.
 */
export const foreignPending = Effect.fnUntraced(function* (
  client: PveClient,
  own: OwnPending,
  doing: string,
): Effect.fn.Return<ForeignPending, HypervisorFault> {
  return { sdn: yield* pendingSdn(client, own, doing), nodes: yield* pendingOnNodes(client, own, doing) }
})

/** The fault of an apply that would put these into force; `again` completes "…, then deploy again". Undefined when nothing is pending. */
export const foreignPendingFault = (
  { sdn, nodes }: ForeignPending,
  doing: string,
  again: string,
): HypervisorFault | undefined => {
  const all = [...sdn, ...nodes]
  if (all.length === 0) return undefined
  const places = [
    ...(sdn.length === 0 ? [] : ["roll them back under Datacenter > SDN"]),
    ...(nodes.length === 0 ? [] : ["revert them under System > Network of the node"]),
  ]
  return new HypervisorFault({
    doing,
    reason: "failed",
    detail: `applying the SDN would also apply pending changes that are not ours (${listed(all)})`,
    hint: `Apply or ${places.join(", and ")}, then ${again}.`,
  })
}
