import { type Installation, type InstallationNode, vnetRoles } from "@rangewright/domain"
import type { HypervisorFault, HypervisorInstallation, NetworkMigration, NodeShell } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { readRights } from "../access/rights.ts"
import type { PveClient } from "../client/client.ts"
import { observeHost } from "./host-actions.ts"
import { observeMachines } from "./observe-machines.ts"
import { packageLook } from "./packages.ts"
import { readCluster, readNodeNetwork, readOtherPending, vnetsOf, vnetsOn, zonesOf } from "./observe-networks.ts"

const vnetPath = /^\/sdn\/zones\/[^/]+\/([^/]+)$/u

const readVnetRights = (client: PveClient): Effect.Effect<Installation["rights"], HypervisorFault> =>
  Effect.map(readRights(client, "read the rights on VNets"), (rights) =>
    rights.flatMap(({ path: at, role, type, subject, propagate }) => {
      const vnet = vnetPath.exec(at)?.[1]
      if (vnet === undefined || !propagate || !vnetRoles.includes(role) || type === "token") return []
      return [{ vnet, subject: type, name: subject }]
    }),
  )

interface SdnView {
  readonly zones: Installation["zones"]
  readonly vnets: Installation["vnets"]
  readonly otherPending: readonly string[]
}

/** Empty for a cluster without SDN. */
const readSdn = (client: PveClient): Effect.Effect<SdnView, HypervisorFault> =>
  Effect.gen(function* () {
    const doing = "read the SDN of the cluster"
    const zones = zonesOf((yield* client.get("/cluster/sdn/zones", { pending: true }, { doing })).data)
    const vnets = vnetsOf((yield* client.get("/cluster/sdn/vnets", { pending: true }, { doing })).data)
    return { zones, vnets, otherPending: yield* readOtherPending(client, vnets) }
  }).pipe(
    Effect.catchIf(
      ({ facts }) => facts.reason === "invalid",
      () => Effect.succeed({ zones: [], vnets: [], otherPending: [] }),
    ),
  )

/** Reads everything that a migration is planned from; every node is queried, and one that is down contributes nothing. */
export const observeInstallation = (
  client: PveClient,
  shell: Context.Service.Shape<typeof NodeShell>,
): Context.Service.Shape<typeof NetworkMigration>["observe"] => {
  const missingPackages = packageLook(client)
  return ({ zone, snapshots }) =>
    Effect.gen(function* (): Effect.fn.Return<HypervisorInstallation, HypervisorFault> {
      const cluster = yield* readCluster(client)
      const { zones, vnets, otherPending } = yield* readSdn(client)
      const ours = zones.find(({ name }) => name === zone)
      const spans = (node: string): boolean => ours !== undefined && (ours.nodes.length === 0 || ours.nodes.includes(node))
      const online = cluster.nodes.filter((node) => node.online)
      const looks = yield* Effect.forEach(online, ({ name }) =>
        Effect.gen(function* () {
          const { bridges, pending } = yield* readNodeNetwork(client, name)
          const lacking = yield* missingPackages(name)
          const there = spans(name) && ours?.state !== "new" ? yield* vnetsOn(client, name, zone) : undefined
          const host = yield* observeHost(shell, name)
          return { name, bridges, pending, lacking, there, host }
        }),
      )
      const byName = new Map(looks.map((look) => [look.name, look]))
      const missingOn = (vnet: Installation["vnets"][number]): readonly string[] =>
        vnet.zone !== zone || vnet.state === "new"
          ? []
          : looks.flatMap(({ name, there }) => (there !== undefined && !there.has(vnet.name) ? [name] : []))
      return {
        quorate: cluster.quorate,
        nodes: cluster.nodes.map((node): InstallationNode => ({
          ...node,
          missingPackages: byName.get(node.name)?.lacking ?? [],
          pending: byName.get(node.name)?.pending ?? [],
          host: byName.get(node.name)?.host,
        })),
        zones,
        vnets: vnets.map((vnet) => ({ ...vnet, missingOn: missingOn(vnet) })),
        otherPending,
        bridges: looks.flatMap(({ bridges }) => bridges),
        machines: yield* observeMachines(client, snapshots),
        rights: yield* readVnetRights(client),
      }
    })
}
