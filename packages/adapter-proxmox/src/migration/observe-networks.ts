import type { Installation, InstallationBridge, InstallationNode, PendingInterface, PendingState } from "@rangewright/domain"
import type { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { pendingChanges } from "../network/pending-diff.ts"
import { child, type Fields, flag, rows, text, words } from "../wire/read.ts"

export const pendingState = (row: Fields): PendingState | undefined => {
  const state = text(row, "state")
  return state === "new" || state === "changed" || state === "deleted" ? state : undefined
}

/** In the pending view a row holds what is in force, and `pending` what would replace it. */
const configured = (row: Fields, key: string): string | undefined => {
  const next = text(child(row, "pending"), key)
  return next === "deleted" ? undefined : (next ?? text(row, key))
}

const wordsOf = (row: Fields, key: string): readonly string[] => words({ [key]: configured(row, key) }, key)

export const zonesOf = (data: unknown): Installation["zones"] =>
  rows(data).flatMap((row) => {
    const name = text(row, "zone")
    if (name === undefined) return []
    const mtu = Number(configured(row, "mtu"))
    return [
      {
        name,
        type: configured(row, "type") ?? "",
        peers: wordsOf(row, "peers"),
        nodes: wordsOf(row, "nodes"),
        mtu: Number.isInteger(mtu) && mtu > 0 ? mtu : undefined,
        state: pendingState(row),
      },
    ]
  })

export const vnetsOf = (data: unknown): Installation["vnets"] =>
  rows(data).flatMap((row) => {
    const name = text(row, "vnet")
    if (name === undefined) return []
    const tag = Number(configured(row, "tag"))
    return [
      {
        name,
        zone: configured(row, "zone") ?? "",
        tag: Number.isInteger(tag) && tag > 0 ? tag : undefined,
        alias: (configured(row, "alias") ?? "").trim(),
        vlanAware: configured(row, "vlanaware") === "1",
        state: pendingState(row),
        missingOn: [],
      },
    ]
  })

/** Keys of an interface that describe its state rather than its configuration. */
const notSettings = new Set([
  "iface",
  "type",
  "active",
  "exists",
  "priority",
  "families",
  "method",
  "method6",
  "address",
  "netmask",
  "altnames",
])

const settingsOf = (row: Fields): InstallationBridge["settings"] =>
  Object.fromEntries(
    Object.entries(row).flatMap(([key, value]) =>
      notSettings.has(key) || value === "" || !["string", "number", "boolean"].includes(typeof value)
        ? []
        : [[key, value as string | number | boolean]],
    ),
  )

/** The bridges of a node as configured, and its edits pending until a reload. */
export const readNodeNetwork = (
  client: PveClient,
  node: string,
): Effect.Effect<
  { readonly bridges: readonly InstallationBridge[]; readonly pending: readonly PendingInterface[] },
  HypervisorFault
> =>
  client.get(path`/nodes/${node}/network`, {}, { doing: `read the networks of node ${node}` }).pipe(
    Effect.map((reply) => ({
      bridges: rows(reply.data).flatMap((row): readonly InstallationBridge[] => {
        const name = text(row, "iface")
        const type = text(row, "type")
        if (name === undefined || (type !== "bridge" && type !== "OVSBridge")) return []
        const address = text(row, "cidr") ?? text(row, "address")
        return [{ node, name, ports: words(row, "bridge_ports"), address, settings: settingsOf(row) }]
      }),
      pending: [...pendingChanges(text(reply.beside, "changes") ?? "")].map(([name, { removed, added }]): PendingInterface => ({
        name,
        change: removed.length === 0 ? "added" : added.length === 0 ? "removed" : "changed",
      })),
    })),
  )

/** VNets of a zone that a node has set up; undefined when the node does not know the zone. */
export const vnetsOn = (client: PveClient, node: string, zone: string): Effect.Effect<ReadonlySet<string>, HypervisorFault> =>
  client
    .get(path`/nodes/${node}/sdn/zones/${zone}/content`, {}, { doing: `read the VNets of zone ${zone} on node ${node}` })
    .pipe(
      Effect.map(
        (reply) =>
          new Set(
            rows(reply.data).flatMap((row) =>
              (text(row, "status") ?? "available") === "available" ? (text(row, "vnet") ?? []) : [],
            ),
          ),
      ),
      // the node does not run the zone
      Effect.catchIf(
        ({ facts }) => facts.reason === "invalid" || facts.reason === "not-found",
        () => Effect.succeed(new Set<string>()),
      ),
    )

/** The cluster's quorum, and its nodes with their addresses. */
export const readCluster = Effect.fnUntraced(function* (
  client: PveClient,
): Effect.fn.Return<
  { readonly quorate: boolean; readonly nodes: readonly Omit<InstallationNode, "missingPackages" | "pending">[] },
  HypervisorFault
> {
  const all = rows((yield* client.get("/cluster/status", {}, { doing: "read the state of the cluster" })).data)
  const cluster = all.find((row) => text(row, "type") === "cluster")
  return {
    // a standalone node has no cluster, and needs no quorum
    quorate: cluster === undefined || flag(cluster, "quorate"),
    nodes: all.flatMap((row) => {
      const name = text(row, "name")
      if (text(row, "type") !== "node" || name === undefined) return []
      return [{ name, online: flag(row, "online"), address: text(row, "ip") }]
    }),
  }
})

/** Pending changes of SDN objects that are neither zones nor VNets. */
export const readOtherPending = Effect.fnUntraced(function* (
  client: PveClient,
  vnets: Installation["vnets"],
): Effect.fn.Return<readonly string[], HypervisorFault> {
  const doing = "read the pending changes of the cluster's SDN"
  const changed = (kind: string, data: unknown, key: string): readonly string[] =>
    rows(data).flatMap((row) => {
      const state = pendingState(row)
      return state === undefined ? [] : [`${kind} ${text(row, key) ?? "?"} is ${state}`]
    })
  const controllers = yield* client.get("/cluster/sdn/controllers", { pending: true }, { doing })
  const subnets = yield* Effect.forEach(
    // a VLAN-aware VNet has no subnets
    vnets.filter(({ vlanAware }) => !vlanAware),
    ({ name }) => client.get(path`/cluster/sdn/vnets/${name}/subnets`, { pending: true }, { doing }),
  )
  return [
    ...changed("controller", controllers.data, "controller"),
    ...subnets.flatMap((reply) => changed("subnet", reply.data, "subnet")),
  ]
})
