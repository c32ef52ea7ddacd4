import type { NetworkSpec } from "@rangewright/domain"
import { HypervisorFault, type ObservedNetwork } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type * as Semaphore from "effect/Semaphore"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { dropRights } from "../access/rights.ts"
import { lookUntil, startedTask, taskFault } from "../tasks/settlement.ts"
import type { AwaitTask } from "../tasks/watcher.ts"
import { child, type Fields, number, recordOf, rows, text, words } from "../wire/read.ts"
import { isOurNetwork } from "./mark.ts"
import type { NetworkKind, Written } from "./network-kind.ts"

export type VnetSpec = Extract<NetworkSpec, { readonly type: "vnet" }>

/** A VNet as configured, whether in force or not. */
interface Vnet {
  readonly name: string
  readonly zone: string
  readonly tag: number
  readonly alias: string
  /** `new`, `changed`, `deleted`; undefined when what is configured is in force. */
  readonly state: string | undefined
}

/** In the pending view a row holds what is in force, and `pending` what would replace it (facts c16). */
const vnetOf = (row: Fields): readonly Vnet[] => {
  const name = text(row, "vnet")
  if (name === undefined) return []
  const pending = child(row, "pending")
  const configured = (key: string): string | undefined => text(pending, key) ?? text(row, key)
  return [
    {
      name,
      zone: configured("zone") ?? "",
      tag: number(pending, "tag") ?? number(row, "tag") ?? 0,
      alias: (configured("alias") ?? "").trim(),
      state: text(row, "state"),
    },
  ]
}

const readVnets = (client: PveClient, doing: string): Effect.Effect<readonly Vnet[], HypervisorFault> =>
  client.get("/cluster/sdn/vnets", { pending: true }, { doing }).pipe(Effect.map((reply) => rows(reply.data).flatMap(vnetOf)))

/** VNets of the cluster, in force or not. A node without SDN has none. */
export const observeVnets = (client: PveClient): Effect.Effect<readonly ObservedNetwork[], HypervisorFault> =>
  readVnets(client, "read the VNets of the cluster").pipe(
    Effect.map((vnets) =>
      vnets.map(({ name, zone, tag, alias, state }) => ({
        spec: { type: "vnet" as const, name, zone, tag, alias },
        usable: state === undefined,
        ours: isOurNetwork(alias),
      })),
    ),
    Effect.catchIf(
      (fault) => fault.facts.reason === "invalid",
      () => Effect.succeed([]),
    ),
  )

/** The cluster has one set of pending changes, and an apply puts all of it into force: other people's stop us. */
const refuseForeign = Effect.fnUntraced(function* (
  client: PveClient,
  vnets: readonly Vnet[],
  doing: string,
): Effect.fn.Return<void, HypervisorFault> {
  const zones = yield* client.get("/cluster/sdn/zones", { pending: true }, { doing })
  const foreign = [
    ...vnets
      .filter((vnet) => vnet.state !== undefined && !isOurNetwork(vnet.alias))
      .map((vnet) => `VNet ${vnet.name} is ${vnet.state}`),
    ...rows(zones.data)
      .filter((zone) => text(zone, "state") !== undefined)
      .map((zone) => `zone ${text(zone, "zone") ?? "?"} is ${text(zone, "state") ?? "?"}`),
  ]
  if (foreign.length === 0) return
  return yield* new HypervisorFault({
    doing,
    reason: "failed",
    detail: `the cluster's SDN has pending changes that are not ours (${foreign.slice(0, 10).join(", ")})`,
    hint: "Apply or roll them back under Datacenter > SDN, then deploy again.",
  })
})

const zoneFault = (spec: VnetSpec, doing: string): HypervisorFault =>
  new HypervisorFault({
    doing,
    reason: "not-found",
    detail: `the SDN zone ${spec.zone} does not exist`,
    hint: `Create a VXLAN zone named ${spec.zone} with the addresses of all nodes as peers and apply it (Datacenter > SDN > Zones).`,
  })

/** The zone and the online nodes it spans. */
const zoneNodes = Effect.fnUntraced(function* (
  client: PveClient,
  spec: VnetSpec,
  doing: string,
): Effect.fn.Return<readonly string[], HypervisorFault> {
  const zone = yield* client.get(path`/cluster/sdn/zones/${spec.zone}`, {}, { doing })
  const only = words(recordOf(zone.data), "nodes")
  const nodes = yield* client.get("/nodes", {}, { doing })
  return rows(nodes.data)
    .filter((row) => text(row, "status") === "online")
    .flatMap((row) => text(row, "node") ?? [])
    .filter((node) => only.length === 0 || only.includes(node))
})

const verifySeconds = 30

/** The apply's task says OK even when a node failed (facts c16): each node is asked. */
const verifyOnNodes = Effect.fnUntraced(function* (
  client: PveClient,
  spec: VnetSpec,
  doing: string,
): Effect.fn.Return<void, HypervisorFault> {
  const stateOn = (node: string): Effect.Effect<string, HypervisorFault> =>
    client.get(path`/nodes/${node}/sdn/zones/${spec.zone}/content`, {}, { doing }).pipe(
      Effect.map((reply) => {
        const row = rows(reply.data).find((candidate) => text(candidate, "vnet") === spec.name)
        return row === undefined ? "missing" : (text(row, "status") ?? "available")
      }),
    )
  let waiting: readonly string[] = yield* zoneNodes(client, spec, doing)
  let states: readonly string[] = []
  const there = yield* lookUntil(
    () =>
      Effect.gen(function* () {
        const seen = yield* Effect.forEach(waiting, (node) => Effect.map(stateOn(node), (state) => ({ node, state })))
        const bad = seen.filter(({ state }) => state !== "available")
        waiting = bad.map(({ node }) => node)
        states = bad.map(({ node, state }) => `${node}: ${state}`)
        return bad.length === 0 ? true : undefined
      }),
    { seconds: verifySeconds, fastest: 1, slowest: 5 },
  )
  if (there === true) return
  return yield* new HypervisorFault({
    doing,
    reason: "failed",
    detail: `it was applied, but is not usable on every node (${states.join(", ")})`,
    hint: "Look at the network reload task of that node (srvreload), mend what it says, then deploy again.",
  })
})

const doingOf = (verb: string, spec: VnetSpec): string => `${verb} VNet ${spec.name} in zone ${spec.zone}`

/** VLAN-aware VNets of a VXLAN zone; their rights go with them. Applied like bridges: one at a time, one apply for all that wait. */
export const makeVnets = (client: PveClient, awaitTask: AwaitTask, gate: Semaphore.Semaphore): NetworkKind<VnetSpec> => {
  const find = (vnets: readonly Vnet[], spec: VnetSpec): Vnet | undefined => vnets.find((vnet) => vnet.name === spec.name)
  const refuseStranger = (vnet: Vnet, doing: string): Effect.Effect<void, HypervisorFault> =>
    isOurNetwork(vnet.alias)
      ? Effect.void
      : Effect.fail(new HypervisorFault({ doing, reason: "not-ours", detail: `VNet ${vnet.name} exists and is not ours` }))

  /** Applies unless `done` holds already. */
  const apply = Effect.fnUntraced(function* (
    doing: string,
    done: (vnets: readonly Vnet[]) => boolean,
  ): Effect.fn.Return<void, HypervisorFault> {
    const before = yield* readVnets(client, doing)
    if (done(before)) return
    yield* refuseForeign(client, before, doing)
    const upid = yield* startedTask(yield* client.put("/cluster/sdn", {}, { doing }), doing)
    const outcome = yield* awaitTask(upid)
    if (outcome.type !== "ok") return yield* taskFault(doing, outcome)
    if (done(yield* readVnets(client, doing))) return
    return yield* new HypervisorFault({
      doing,
      reason: "unknown-effect",
      detail: "the SDN was applied, but not with this change",
    })
  })

  return {
    create: Effect.fnUntraced(function* (spec): Effect.fn.Return<Written, HypervisorFault> {
      const doing = doingOf("create", spec)
      const vnets = yield* readVnets(client, doing)
      const existing = find(vnets, spec)
      if (existing !== undefined && existing.state !== "deleted") {
        yield* refuseStranger(existing, doing)
        // what is in force may still be missing on a node: settling looks
        return "pending"
      }
      yield* client.get(path`/cluster/sdn/zones/${spec.zone}`, {}, { doing }).pipe(
        Effect.catchIf(
          (fault) => fault.facts.reason === "not-found",
          () => Effect.fail(zoneFault(spec, doing)),
        ),
      )
      yield* refuseForeign(client, vnets, doing)
      yield* client.post(
        "/cluster/sdn/vnets",
        { vnet: spec.name, zone: spec.zone, tag: spec.tag, vlanaware: true, alias: spec.alias },
        { doing },
      )
      return "pending"
    }),
    created: (spec) => {
      const doing = doingOf("create", spec)
      const inForce = (vnets: readonly Vnet[]): boolean => {
        const vnet = find(vnets, spec)
        return vnet !== undefined && vnet.state === undefined
      }
      return Effect.andThen(gate.withPermit(apply(doing, inForce)), verifyOnNodes(client, spec, doing))
    },
    remove: Effect.fnUntraced(function* (spec): Effect.fn.Return<Written, HypervisorFault> {
      const doing = doingOf("remove", spec)
      const vnets = yield* readVnets(client, doing)
      const existing = find(vnets, spec)
      if (existing === undefined) return "done"
      yield* refuseStranger(existing, doing)
      if (existing.state === "deleted") return "pending"
      yield* refuseForeign(client, vnets, doing)
      yield* client.remove(path`/cluster/sdn/vnets/${spec.name}`, {}, { doing }).pipe(
        Effect.catchIf(
          (fault) => fault.facts.reason === "not-found",
          () => Effect.void,
        ),
      )
      return "pending"
    }),
    removed: (spec) => {
      const doing = doingOf("remove", spec)
      return Effect.andThen(
        gate.withPermit(apply(doing, (vnets) => find(vnets, spec) === undefined)),
        dropRights(client, `/sdn/zones/${spec.zone}/${spec.name}`, doing),
      )
    },
  }
}
