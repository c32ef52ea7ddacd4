import type { NetworkSpec } from "@rangewright/domain"
import { HypervisorFault, type ObservedNetwork } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import type { AwaitTask } from "../tasks/watcher.ts"
import { type Fields, flag, text } from "../wire/read.ts"
import { isOurNetwork } from "./mark.ts"
import type { ApplyTurn, NetworkKind } from "./network-kind.ts"
import { foreignEdits, type NodeNetwork, readNetwork } from "./node-network.ts"
import { ownApply } from "./own-apply.ts"
import { pendingChanges } from "./pending-diff.ts"

export type BridgeSpec = Extract<NetworkSpec, { readonly type: "bridge" }>

/** In force: the node reports it as active, or has no pending change for it. */
const inForce = (network: NodeNetwork, row: Fields): boolean =>
  flag(row, "active") || !pendingChanges(network.changes).has(text(row, "iface") ?? "")

/** Applying would put other people's unfinished edits into force. */
const refuseForeign = (network: NodeNetwork, spec: BridgeSpec, doing: string): Effect.Effect<void, HypervisorFault> => {
  const foreign = foreignEdits(network, [spec.name])
  if (foreign.length === 0) return Effect.void
  return Effect.fail(
    new HypervisorFault({
      doing,
      reason: "failed",
      detail: `node ${spec.node} has pending network changes that are not ours (${foreign.slice(0, 10).join(", ")})`,
      hint: "Apply or revert them under System > Network of the node, then deploy again.",
    }),
  )
}

/** Bridges of one node, in force or not. */
export const observeBridges = (client: PveClient, node: string): Effect.Effect<readonly ObservedNetwork[], HypervisorFault> =>
  readNetwork(client, node, `read the networks of node ${node}`).pipe(
    Effect.map((network) =>
      network.interfaces.flatMap((row): readonly ObservedNetwork[] => {
        const name = text(row, "iface")
        if (name === undefined || text(row, "type") !== "bridge") return []
        const comment = (text(row, "comments") ?? "").trim()
        const spec = { type: "bridge", name, node, comment } as const
        const vlanAware = flag(row, "bridge_vlan_aware")
        return [{ spec, usable: inForce(network, row), ours: isOurNetwork(comment), vlanAware }]
      }),
    ),
  )

/**
 * VLAN-aware bridges without ports. An edit stays pending on its node until it is applied. Applying is part of settling, one at a time, and
 * one apply serves all pending edits: those who come later find nothing left to apply.
 */
export const makeBridges = (client: PveClient, awaitTask: AwaitTask, { gate, others }: ApplyTurn): NetworkKind<BridgeSpec> => {
  const find = (network: NodeNetwork, spec: BridgeSpec): Fields | undefined =>
    network.interfaces.find((row) => text(row, "iface") === spec.name)

  const refuseStranger = (row: Fields, doing: string, spec: BridgeSpec): Effect.Effect<void, HypervisorFault> =>
    isOurNetwork(text(row, "comments"))
      ? Effect.void
      : Effect.fail(
          new HypervisorFault({ doing, reason: "not-ours", detail: `${spec.name} on node ${spec.node} exists and is not ours` }),
        )

  const apply = Effect.fnUntraced(function* (
    spec: BridgeSpec,
    doing: string,
    done: (network: NodeNetwork) => boolean,
  ): Effect.fn.Return<void, HypervisorFault> {
    let before = yield* readNetwork(client, spec.node, doing)
    if (done(before)) return
    if (yield* others(doing)) before = yield* readNetwork(client, spec.node, doing)
    if (done(before)) return
    yield* refuseForeign(before, spec, doing)
    return yield* ownApply(
      awaitTask,
      client.put(path`/nodes/${spec.node}/network`, {}, { doing }),
      Effect.map(readNetwork(client, spec.node, doing), done),
      {
        doing,
        reason: "failed",
        detail: `node ${spec.node} reloaded its network, but the result is not as requested`,
        hint: `Check the log of the reload task on node ${spec.node}.`,
      },
    )
  })

  const doingOf = (verb: string, spec: BridgeSpec): string => `${verb} bridge ${spec.name} on node ${spec.node}`
  return {
    create: Effect.fnUntraced(function* (spec) {
      const doing = doingOf("create", spec)
      const network = yield* readNetwork(client, spec.node, doing)
      const existing = find(network, spec)
      if (existing !== undefined) {
        yield* refuseStranger(existing, doing, spec)
        return inForce(network, existing) ? "done" : "pending"
      }
      yield* refuseForeign(network, spec, doing)
      yield* client.post(
        path`/nodes/${spec.node}/network`,
        { iface: spec.name, type: "bridge", autostart: true, bridge_vlan_aware: true, comments: spec.comment },
        { doing },
      )
      return "pending"
    }),
    created: (spec) =>
      gate.withPermit(
        apply(spec, doingOf("create", spec), (network) => {
          const row = find(network, spec)
          return row !== undefined && inForce(network, row)
        }),
      ),
    remove: Effect.fnUntraced(function* (spec) {
      const doing = doingOf("remove", spec)
      const network = yield* readNetwork(client, spec.node, doing)
      const existing = find(network, spec)
      if (existing === undefined) return pendingChanges(network.changes).has(spec.name) ? "pending" : "done"
      yield* refuseStranger(existing, doing, spec)
      yield* refuseForeign(network, spec, doing)
      yield* client.remove(path`/nodes/${spec.node}/network/${spec.name}`, {}, { doing }).pipe(
        Effect.catchIf(
          (fault) => fault.facts.reason === "not-found",
          () => Effect.void,
        ),
      )
      return "pending"
    }),
    removed: (spec) =>
      gate.withPermit(
        apply(
          spec,
          doingOf("remove", spec),
          (network) => find(network, spec) === undefined && !pendingChanges(network.changes).has(spec.name),
        ),
      ),
  }
}
