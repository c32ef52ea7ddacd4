import { HypervisorFault, type ObservedNetwork } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { dropRights } from "../access/rights.ts"
import type { AwaitTask } from "../tasks/watcher.ts"
import { child, type Fields, number, rows, text } from "../wire/read.ts"
import { foreignPending, foreignPendingFault } from "./foreign-pending.ts"
import { isOurNetwork } from "./mark.ts"
import type { ApplyTurn, NetworkKind, Written } from "./network-kind.ts"
import { ownApply } from "./own-apply.ts"
import { lackFault, lacksAfter, type VnetSpec } from "./vnet-nodes.ts"

/** A VNet as configured, whether in force or not. */
interface Vnet {
  readonly name: string
  readonly zone: string
  readonly tag: number
  readonly alias: string
  readonly vlanAware: boolean
  /** `new`, `changed`, `deleted`; undefined when the configuration is in force. */
  readonly state: string | undefined
}

/** In the pending view a row holds what is in force, and `pending` what would replace it. */
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
      vlanAware: configured("vlanaware") === "1",
      state: text(row, "state"),
    },
  ]
}

const readVnets = (client: PveClient, doing: string): Effect.Effect<readonly Vnet[], HypervisorFault> =>
  client.get("/cluster/sdn/vnets", { pending: true }, { doing }).pipe(Effect.map((reply) => rows(reply.data).flatMap(vnetOf)))

/** VNets of the cluster, in force or not. Empty on a node without SDN. */
export const observeVnets = (client: PveClient): Effect.Effect<readonly ObservedNetwork[], HypervisorFault> =>
  readVnets(client, "read the VNets of the cluster").pipe(
    Effect.map((vnets) =>
      vnets.map(({ name, zone, tag, alias, state, vlanAware }) => ({
        spec: { type: "vnet" as const, name, zone, tag, alias },
        usable: state === undefined,
        ours: isOurNetwork(alias),
        vlanAware,
      })),
    ),
    Effect.catchIf(
      (fault) => fault.facts.reason === "invalid",
      () => Effect.succeed([]),
    ),
  )

/** The cluster has one set of pending changes, and an apply puts all of it into force: fails when others have pending changes. */
const refuseForeign = (client: PveClient, doing: string): Effect.Effect<void, HypervisorFault> =>
  Effect.flatMap(foreignPending(client, {}, doing), (pending) => {
    const fault = foreignPendingFault(pending, doing, "deploy again")
    return fault === undefined ? Effect.void : Effect.fail(fault)
  })

const zoneFault = (spec: VnetSpec, doing: string): HypervisorFault =>
  new HypervisorFault({
    doing,
    reason: "not-found",
    detail: `the SDN zone ${spec.zone} does not exist`,
    hint: `Create a VXLAN zone named ${spec.zone} with the addresses of all nodes as peers and apply it (Datacenter > SDN > Zones).`,
  })

/** How long a VNet in force may take to come up on a node: another apply may be running. */
const patienceSeconds = 5

/** How long nodes may take after an apply. */
const verifySeconds = 30

const doingOf = (verb: string, spec: VnetSpec): string => `${verb} VNet ${spec.name} in zone ${spec.zone}`

/**
 * VLAN-aware VNets of a VXLAN zone; their rights are removed with them. Applied like bridges: one at a time, one apply for all pending
 * ones. A node that missed an apply, or failed in it, gets another with the next operation that needs a VNet there: one in total, not one
 * for each waiting operation.
 */
export const makeVnets = (client: PveClient, awaitTask: AwaitTask, { gate, others }: ApplyTurn): NetworkKind<VnetSpec> => {
  const find = (vnets: readonly Vnet[], spec: VnetSpec): Vnet | undefined => vnets.find((vnet) => vnet.name === spec.name)
  const refuseStranger = (vnet: Vnet, doing: string): Effect.Effect<void, HypervisorFault> =>
    isOurNetwork(vnet.alias)
      ? Effect.void
      : Effect.fail(new HypervisorFault({ doing, reason: "not-ours", detail: `VNet ${vnet.name} exists and is not ours` }))

  /** Applies started by this process. */
  let applies = 0

  /**
   * Puts the configuration into force; `done` says whether the wanted change is in it. `isMissing`: whether that is still needed after the
   * apply of somebody else.
   */
  const apply = Effect.fnUntraced(function* (
    doing: string,
    done: (vnets: readonly Vnet[]) => boolean,
    isMissing = Effect.map(readVnets(client, doing), (vnets) => !done(vnets)),
  ): Effect.fn.Return<void, HypervisorFault> {
    if ((yield* others(doing)) && !(yield* isMissing)) return
    yield* refuseForeign(client, doing)
    applies += 1
    return yield* ownApply(awaitTask, client.put("/cluster/sdn", {}, { doing }), Effect.map(readVnets(client, doing), done), {
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
        // what is in force may still be missing on a node: settling checks
        return "pending"
      }
      yield* client.get(path`/cluster/sdn/zones/${spec.zone}`, {}, { doing }).pipe(
        Effect.catchIf(
          (fault) => fault.facts.reason === "not-found",
          () => Effect.fail(zoneFault(spec, doing)),
        ),
      )
      yield* refuseForeign(client, doing)
      yield* client.post(
        "/cluster/sdn/vnets",
        { vnet: spec.name, zone: spec.zone, tag: spec.tag, vlanaware: true, alias: spec.alias },
        { doing },
      )
      return "pending"
    }),
    created: Effect.fnUntraced(function* (spec, nodes): Effect.fn.Return<void, HypervisorFault> {
      const doing = doingOf("create", spec)
      const inForce = (vnets: readonly Vnet[]): boolean => {
        const vnet = find(vnets, spec)
        return vnet !== undefined && vnet.state === undefined
      }
      const lacking = (seconds: number) => lacksAfter(client, spec, nodes, doing, seconds)
      const appliesBefore = applies
      const ensure = Effect.gen(function* () {
        const vnets = yield* readVnets(client, doing)
        if (!inForce(vnets)) return yield* apply(doing, inForce)
        // an apply started since then has already given every node what it could
        const isMissing = Effect.map(lacking(patienceSeconds), (lacks) => lacks.length > 0)
        if (applies !== appliesBefore || !(yield* isMissing)) return
        yield* apply(doing, inForce, isMissing)
      })
      yield* gate.withPermit(ensure)
      const missing = yield* lacking(verifySeconds)
      if (missing.length > 0) return yield* yield* lackFault(client, missing, doing)
    }),
    remove: Effect.fnUntraced(function* (spec): Effect.fn.Return<Written, HypervisorFault> {
      const doing = doingOf("remove", spec)
      const vnets = yield* readVnets(client, doing)
      const existing = find(vnets, spec)
      if (existing === undefined) return "done"
      yield* refuseStranger(existing, doing)
      if (existing.state === "deleted") return "pending"
      yield* refuseForeign(client, doing)
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
      const isGone = (vnets: readonly Vnet[]): boolean => find(vnets, spec) === undefined
      return Effect.andThen(
        gate.withPermit(
          Effect.flatMap(readVnets(client, doing), (vnets) => (isGone(vnets) ? Effect.void : apply(doing, isGone))),
        ),
        dropRights(client, `/sdn/zones/${spec.zone}/${spec.name}`, doing),
      )
    },
  }
}
