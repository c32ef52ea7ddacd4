import { type MigrationAction, vnetRoles } from "@rangewright/domain"
import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { ensureGroups } from "../access/groups.ts"
import { dropRights } from "../access/rights.ts"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { isOurNetwork } from "../network/mark.ts"
import { lookUntil } from "../tasks/settlement.ts"
import { recordOf, rows, text } from "../wire/read.ts"
import { readCluster, readOtherPending, vnetsOf, vnetsOn, zonesOf } from "./observe-networks.ts"

type Of<K extends MigrationAction["kind"]> = Extract<MigrationAction, { readonly kind: K }>
type Done = Effect.Effect<void, HypervisorFault>

const isReason =
  (...reasons: readonly HypervisorFault["facts"]["reason"][]) =>
  (fault: HypervisorFault): boolean =>
    reasons.includes(fault.facts.reason)

type Zone = ReturnType<typeof zonesOf>[number]

const zoneNamed = (client: PveClient, name: string, doing: string): Effect.Effect<Zone | undefined, HypervisorFault> =>
  Effect.map(client.get("/cluster/sdn/zones", { pending: true }, { doing }), (reply) =>
    zonesOf(reply.data).find((zone) => zone.name === name),
  )

const hasPeers = ({ type, peers }: Zone, wanted: readonly string[]): boolean =>
  type === "vxlan" && peers.toSorted().join() === wanted.toSorted().join()

/** A zone of this name that is already in force was created by somebody else, so the plan no longer holds. */
export const createZone = (client: PveClient, { zone }: Of<"create-zone">): Done => {
  const doing = `create the SDN zone ${zone.name}`
  return client
    .post("/cluster/sdn/zones", { zone: zone.name, type: "vxlan", peers: zone.peers.join(","), mtu: zone.mtu }, { doing })
    .pipe(
      Effect.asVoid,
      Effect.catchIf(isReason("taken"), (fault) =>
        Effect.flatMap(zoneNamed(client, zone.name, doing), (found) =>
          found?.state === "new" && hasPeers(found, zone.peers) ? Effect.void : Effect.fail(fault),
        ),
      ),
    )
}

export const removeZone = Effect.fnUntraced(function* (
  client: PveClient,
  { zone, peers, unapplied }: Of<"remove-zone">,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = `remove the SDN zone ${zone}`
  const found = yield* zoneNamed(client, zone, doing)
  if (found === undefined || found.state === "deleted") return
  if (!hasPeers(found, peers) || (unapplied === true && found.state !== "new"))
    return yield* new HypervisorFault({
      doing,
      reason: "not-ours",
      detail: `zone ${zone} is not the one that was created here: it is of the type ${found.type} with the peers ${found.peers.join(",")}`,
    })
  yield* client
    .remove(path`/cluster/sdn/zones/${zone}`, {}, { doing })
    .pipe(Effect.catchIf(isReason("not-found"), () => Effect.void))
})

const stranger = (doing: string, name: string, alias: string | undefined): HypervisorFault =>
  new HypervisorFault({
    doing,
    reason: "not-ours",
    detail: `VNet ${name} exists and is not ours: its alias is ${alias === undefined ? "empty" : `"${alias}"`}`,
  })

/** The alias of a VNet as configured; undefined when it does not exist. */
const aliasOf = (client: PveClient, name: string, doing: string): Effect.Effect<string | undefined, HypervisorFault> =>
  client.get(path`/cluster/sdn/vnets/${name}`, {}, { doing }).pipe(
    Effect.map((reply): string | undefined => (text(recordOf(reply.data), "alias") ?? "").trim()),
    Effect.catchIf(isReason("not-found"), () => Effect.succeed(undefined)),
  )

export const createVnet = (client: PveClient, { vnet }: Of<"create-vnet">): Done => {
  const doing = `create VNet ${vnet.name} in zone ${vnet.zone}`
  const { name, zone, tag, alias } = vnet
  return client.post("/cluster/sdn/vnets", { vnet: name, zone, tag, vlanaware: true, alias }, { doing }).pipe(
    Effect.asVoid,
    Effect.catchIf(isReason("taken"), (fault) =>
      Effect.flatMap(aliasOf(client, name, doing), (found) => {
        if (found === alias) return Effect.void
        // the tag was taken, not the name
        return Effect.fail(found === undefined ? fault : stranger(doing, name, found))
      }),
    ),
  )
}

/** Removes a VNet of ours and every right on it. */
export const removeVnet = Effect.fnUntraced(function* (
  client: PveClient,
  { vnet, zone, alias }: Of<"remove-vnet">,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = `remove VNet ${vnet}`
  const found = yield* aliasOf(client, vnet, doing)
  if (found !== undefined && found !== alias) return yield* stranger(doing, vnet, found)
  if (found !== undefined)
    yield* client
      .remove(path`/cluster/sdn/vnets/${vnet}`, {}, { doing })
      .pipe(Effect.catchIf(isReason("not-found"), () => Effect.void))
  yield* dropRights(client, `/sdn/zones/${zone}/${vnet}`, doing)
})

/** One call: the API takes lists of subjects. */
export const grantVnet = Effect.fnUntraced(function* (
  client: PveClient,
  { zone, vnet, groups }: Of<"grant-vnet">,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = `grant the use of VNet ${vnet}`
  yield* ensureGroups(client, groups, doing)
  yield* client.put(
    "/access/acl",
    {
      path: `/sdn/zones/${zone}/${vnet}`,
      roles: vnetRoles.join(","),
      groups: groups.join(","),
      propagate: true,
    },
    { doing },
  )
})

/** Pending SDN changes: whether any are ours, and those of others. We create and remove zones, and never change one. */
const readPending = Effect.fnUntraced(function* (
  client: PveClient,
  { zone: ours }: Of<"apply-sdn">,
  doing: string,
): Effect.fn.Return<{ readonly waits: boolean; readonly foreign: readonly string[] }, HypervisorFault> {
  const vnets = vnetsOf((yield* client.get("/cluster/sdn/vnets", { pending: true }, { doing })).data)
  const zones = zonesOf((yield* client.get("/cluster/sdn/zones", { pending: true }, { doing })).data)
  const pending = [
    ...zones.map(({ name, state }) => ({ what: `zone ${name}`, state, mine: name === ours && state !== "changed" })),
    ...vnets.map(({ name, alias, state }) => ({ what: `VNet ${name}`, state, mine: isOurNetwork(alias) })),
  ].filter(({ state }) => state !== undefined)
  const foreign = pending.filter(({ mine }) => !mine).map(({ what, state }) => `${what} is ${state}`)
  return {
    waits: pending.some(({ mine }) => mine),
    foreign: [...foreign, ...(yield* readOtherPending(client, vnets))],
  }
})

/** Nodes of a zone whose VNets differ from these, each with the difference. */
const disagreeing = Effect.fnUntraced(function* (
  client: PveClient,
  zone: string,
  present: readonly string[],
  absent: readonly string[],
): Effect.fn.Return<readonly string[], HypervisorFault> {
  const doing = `look for the VNets of zone ${zone} on its nodes`
  const { nodes } = yield* readCluster(client)
  const zones = zonesOf((yield* client.get("/cluster/sdn/zones", { running: true }, { doing })).data)
  const spans = zones.find(({ name }) => name === zone)?.nodes ?? []
  const wrong = yield* Effect.forEach(
    nodes.filter(({ name }) => spans.length === 0 || spans.includes(name)),
    ({ name, online }) =>
      Effect.gen(function* () {
        if (!online) return [`${name} is offline`]
        const there = yield* vnetsOn(client, name, zone)
        const missing = present.filter((vnet) => !there.has(vnet))
        const left = absent.filter((vnet) => there.has(vnet))
        return [
          ...(missing.length === 0 ? [] : [`${name} lacks ${missing.slice(0, 5).join(", ")}`]),
          ...(left.length === 0 ? [] : [`${name} still has ${left.slice(0, 5).join(", ")}`]),
        ]
      }),
  )
  return wrong.flat()
})

const verifySeconds = 30

/** Fails unless every node of the zone agrees within half a minute. */
export const proveVnets = Effect.fnUntraced(function* (
  client: PveClient,
  zone: string,
  networks: { readonly present: readonly string[]; readonly absent: readonly string[] },
  doing: string,
): Effect.fn.Return<void, HypervisorFault> {
  let wrong: readonly string[] = []
  const agreed = yield* lookUntil(
    () =>
      Effect.map(disagreeing(client, zone, networks.present, networks.absent), (found) => {
        wrong = found
        return found.length === 0 ? true : undefined
      }),
    { seconds: verifySeconds, fastest: 1, slowest: 5 },
  )
  if (agreed === true) return
  return yield* new HypervisorFault({
    doing,
    reason: "failed",
    detail: `not every node is as it should be (${wrong.join("; ")})`,
    hint: "Check the network reload task (srvreload) of that node, fix what it reports, and start again.",
  })
})

/** A running apply: nothing is pending any more, but the nodes are still working on it. */
const runningApply = (client: PveClient, doing: string): Effect.Effect<string | undefined, HypervisorFault> =>
  Effect.map(client.get("/cluster/tasks", {}, { doing }), (reply) => {
    const found = rows(reply.data).find((row) => text(row, "type") === "reloadnetworkall" && text(row, "endtime") === undefined)
    return found === undefined ? undefined : text(found, "upid")
  })

/** Starts an apply if needed; returns a running one instead, or undefined when everything is already in force. */
export const startApply = Effect.fnUntraced(function* (
  client: PveClient,
  action: Of<"apply-sdn">,
  doing: string,
): Effect.fn.Return<unknown, HypervisorFault> {
  const { waits, foreign } = yield* readPending(client, action, doing)
  if (!waits && (yield* disagreeing(client, action.zone, action.present, action.absent)).length === 0)
    return yield* runningApply(client, doing)
  if (foreign.length > 0)
    return yield* new HypervisorFault({
      doing,
      reason: "failed",
      detail: `the cluster's SDN has pending changes that are not ours (${foreign.slice(0, 10).join(", ")})`,
      hint: "Apply or roll them back under Datacenter > SDN, and start again.",
    })
  return (yield* client.put("/cluster/sdn", {}, { doing })).data
})
