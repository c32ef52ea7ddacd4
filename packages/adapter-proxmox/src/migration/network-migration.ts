import { adminGroup, type Json, userGroup } from "@rangewright/domain"
import type { Dispatched, HypervisorFault, NetworkMigration, NetworkMigrationAction, NodeShell } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { awaitApply, endlessApply } from "../network/own-apply.ts"
import { taskFault } from "../tasks/settlement.ts"
import { parseUpid } from "../tasks/upid.ts"
import type { AwaitTask } from "../tasks/watcher.ts"
import { recordOf } from "../wire/read.ts"
import { createBridge, proveBridges, removeBridge, revertNetwork, startReload, writeBridgeAddress } from "./bridge-actions.ts"
import { cachedObservation } from "./cached-observation.ts"
import { performHost, proveHost } from "./host-actions.ts"
import { moveNics, proveMachines } from "./machine-actions.ts"
import { nodeGuestsLook } from "./node-guests.ts"
import { observeInstallation } from "./observe.ts"
import { createVnet, createZone, grantVnet, proveVnets, removeVnet, removeZone, startApply } from "./sdn-actions.ts"

/** Names the action that is applied or verified, for faults. */
const doingOf = (action: NetworkMigrationAction): string => {
  if (action.kind === "apply-sdn") return "apply the SDN changes"
  return action.kind === "reload-network" ? `reload the network of node ${action.node}` : "verify that every network is usable"
}

/** Nothing to wait for. */
const done: Dispatched = { token: null }

/** The token of a task is `{"task": "UPID:…"}`. */
const started = (upid: unknown): Dispatched => (typeof upid === "string" ? { token: { task: upid } } : done)

export const makeNetworkMigration = (
  client: PveClient,
  awaitTask: AwaitTask,
  shell: Context.Service.Shape<typeof NodeShell>,
): Context.Service.Shape<typeof NetworkMigration> => {
  const guestsOf = nodeGuestsLook(client)
  const { observe, observeCached, invalidate, moved } = cachedObservation(observeInstallation(client, shell))
  const dispatch = (action: NetworkMigrationAction): Effect.Effect<Dispatched, HypervisorFault> => {
    switch (action.kind) {
      case "create-zone":
        return Effect.as(createZone(client, action), done)
      case "remove-zone":
        return Effect.as(removeZone(client, action), done)
      case "create-vnet":
        return Effect.as(createVnet(client, action), done)
      case "remove-vnet":
        return Effect.as(removeVnet(client, action), done)
      case "grant-vnet":
        return Effect.as(grantVnet(client, action), done)
      case "create-bridge":
        return Effect.as(createBridge(client, action), done)
      case "bridge-address":
        return Effect.as(writeBridgeAddress(client, action), done)
      case "remove-bridge":
        return Effect.as(removeBridge(client, guestsOf, action), done)
      case "host-address":
      case "range-route":
      case "leave-host":
        return Effect.as(performHost(shell, action), done)
      case "move-nics":
        return Effect.map(moveNics(client, action), (found) => {
          if (!found) return { ...done, gone: true }
          moved(action)
          return done
        })
      case "revert-network":
        return Effect.as(revertNetwork(client, action), done)
      case "apply-sdn":
        return Effect.map(startApply(client, action, doingOf(action)), started)
      case "reload-network":
        return Effect.map(startReload(client, action, doingOf(action)), started)
      case "verify-networks":
      case "verify-machines":
        return Effect.succeed(done)
    }
  }

  const prove = (action: NetworkMigrationAction): Effect.Effect<void, HypervisorFault> => {
    switch (action.kind) {
      case "apply-sdn":
        return proveVnets(client, action.zone, action, doingOf(action))
      case "reload-network":
        return proveBridges(client, action.node, action, doingOf(action))
      case "verify-networks":
        return proveNetworks(client, action)
      case "verify-machines":
        return proveMachines(client, action)
      case "host-address":
      case "range-route":
      case "leave-host":
        return proveHost(shell, action)
      case "create-zone":
      case "remove-zone":
      case "create-vnet":
      case "remove-vnet":
      case "grant-vnet":
      case "create-bridge":
      case "bridge-address":
      case "remove-bridge":
      case "revert-network":
      case "move-nics":
        // the answer itself proves the effect
        return Effect.void
    }
  }

  const settle = Effect.fnUntraced(function* (
    action: NetworkMigrationAction,
    token: Json,
  ): Effect.fn.Return<void, HypervisorFault> {
    const upid = parseUpid(recordOf(token)["task"])
    const proof = prove(action)
    if (upid === undefined) return yield* proof
    const outcome = yield* awaitApply(awaitTask, upid)
    if (outcome?.type === "ok") return yield* proof
    const doing = doingOf(action)
    // an apply's task may fail, hang or be lost although it took effect: the nodes' state decides
    yield* Effect.catchIf(
      proof,
      ({ facts }) => facts.reason === "failed",
      () => Effect.fail(outcome === undefined ? endlessApply(doing, upid) : taskFault(doing, outcome)),
    )
  })

  return {
    observe,
    observeCached,
    groups: { admins: adminGroup, users: userGroup },
    dispatch: (action) => dispatch(action).pipe(Effect.ensuring(invalidate)),
    settle: (action, token) => settle(action, token).pipe(Effect.ensuring(invalidate)),
  }
}

const proveNetworks = Effect.fnUntraced(function* (
  client: PveClient,
  action: Extract<NetworkMigrationAction, { readonly kind: "verify-networks" }>,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = doingOf(action)
  if (action.networks.length === 0) return
  if (action.zone !== undefined)
    return yield* proveVnets(client, action.zone, { present: action.networks.map(({ network }) => network), absent: [] }, doing)
  const nodes = new Set(action.networks.flatMap((network) => network.nodes))
  yield* Effect.forEach(nodes, (node) => {
    const present = action.networks.filter((network) => network.nodes.includes(node)).map(({ network }) => network)
    return proveBridges(client, node, { present, absent: [] }, doing)
  })
})
