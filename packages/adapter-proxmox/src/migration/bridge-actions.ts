import type { InstallationBridge, MigrationAction } from "@rangewright/domain"
import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { hangingOn, type NodeGuests, readNodeGuests } from "./node-guests.ts"
import { readNodeNetwork } from "./observe-networks.ts"

type Of<K extends MigrationAction["kind"]> = Extract<MigrationAction, { readonly kind: K }>

interface BridgeOnNode {
  readonly bridge: InstallationBridge
  /** It takes effect with a reload. */
  readonly isNew: boolean
}

const bridgeOn = (client: PveClient, node: string, name: string): Effect.Effect<BridgeOnNode | undefined, HypervisorFault> =>
  Effect.map(readNodeNetwork(client, node), ({ bridges, pending }) => {
    const bridge = bridges.find((one) => one.name === name)
    const isNew = pending.some((edit) => edit.name === name && edit.change === "added")
    return bridge === undefined ? undefined : { bridge, isNew }
  })

const othersMade = (doing: string, node: string, name: string): HypervisorFault =>
  new HypervisorFault({
    doing,
    reason: "not-ours",
    detail: `node ${node} already has a bridge ${name} that was not created here`,
    hint: "Start again, which creates a new plan.",
  })

/** Keys kept when a bridge is recreated. Others that a node reports are its own, and addresses are never restored. */
const keptKeys = ["bridge_vids", "comments", "mtu"] as const

export const createBridge = Effect.fnUntraced(function* (
  client: PveClient,
  { bridge: { node, name, settings } }: Of<"create-bridge">,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = `create bridge ${name} on node ${node}`
  const found = yield* bridgeOn(client, node, name)
  // it was missing at planning time, and a bridge of ours is still waiting for the reload
  if (found !== undefined && !found.isNew) return yield* othersMade(doing, node, name)
  if (found !== undefined) return
  const kept = Object.fromEntries(
    keptKeys.flatMap((key) => {
      const value = settings[key]
      return value === undefined ? [] : [[key, String(value).trim()]]
    }),
  )
  yield* client.post(
    path`/nodes/${node}/network`,
    { ...kept, iface: name, type: "bridge", autostart: true, bridge_vlan_aware: true },
    { doing },
  )
})

/** Writes the node's own address to a bridge, or removes it; the bridge's other settings stay. */
export const writeBridgeAddress = Effect.fnUntraced(function* (
  client: PveClient,
  { node, bridge: name, address }: Of<"bridge-address">,
): Effect.fn.Return<void, HypervisorFault> {
  const doing =
    address === undefined
      ? `write bridge ${name} of node ${node} without its address`
      : `write ${address} to bridge ${name} of node ${node}`
  const found = yield* bridgeOn(client, node, name)
  if (found === undefined || found.bridge.address === address) return
  const change = address === undefined ? { delete: "cidr,address,netmask" } : { cidr: address }
  yield* client.put(path`/nodes/${node}/network/${name}`, { type: "bridge", ...change }, { doing })
})

const stillUsed = (doing: string, hanging: readonly string[], what: string): HypervisorFault =>
  new HypervisorFault({
    doing,
    reason: "failed",
    detail: `the machines ${hanging.slice(0, 10).join(", ")} are attached to ${what}`,
    hint: "Start again: they will move, or their bridges will stay.",
  })

/** Marks the bridge for removal. Fails while a guest is attached: anybody's reload would cut that guest off. */
export const removeBridge = Effect.fnUntraced(function* (
  client: PveClient,
  guestsOf: (node: string) => Effect.Effect<NodeGuests, HypervisorFault>,
  { node, bridge: name, unapplied }: Of<"remove-bridge">,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = `remove bridge ${name} from node ${node}`
  const found = yield* bridgeOn(client, node, name)
  if (found === undefined) return
  const { ports, address } = found.bridge
  if (ports.length > 0 || address !== undefined)
    return yield* new HypervisorFault({
      doing,
      reason: "not-ours",
      detail: ports.length > 0 ? `it has the ports ${ports.join(", ")}` : `the node has the address ${address} on it`,
    })
  if (unapplied === true && !found.isNew) return yield* othersMade(doing, node, name)
  const hanging = hangingOn(yield* guestsOf(node), new Set([name]))
  if (hanging.length > 0) return yield* stillUsed(doing, hanging, "it")
  yield* client.remove(path`/nodes/${node}/network/${name}`, {}, { doing }).pipe(
    Effect.catchIf(
      ({ facts }) => facts.reason === "not-found",
      () => Effect.void,
    ),
  )
})

type Pending = Effect.Success<ReturnType<typeof readNodeNetwork>>["pending"]

/** Fails when edits of others are pending. */
const requireOurs = (
  node: string,
  pending: Pending,
  isOurs: (edit: Pending[number]) => boolean,
  doing: string,
): Effect.Effect<void, HypervisorFault> => {
  const foreign = pending.filter((edit) => !isOurs(edit)).map(({ name, change }) => `${name} is ${change}`)
  if (foreign.length === 0) return Effect.void
  return Effect.fail(
    new HypervisorFault({
      doing,
      reason: "failed",
      detail: `node ${node} has pending network changes that are not ours (${foreign.slice(0, 10).join(", ")})`,
      hint: "Apply or revert them under System > Network of the node, and start again.",
    }),
  )
}

const dropEdits = (client: PveClient, node: string, doing: string): Effect.Effect<void, HypervisorFault> =>
  Effect.asVoid(client.remove(path`/nodes/${node}/network`, {}, { doing }))

/** Reverts a node's pending network edits, provided they are nothing but removals of these bridges. */
export const revertNetwork = Effect.fnUntraced(function* (
  client: PveClient,
  { node, bridges }: Of<"revert-network">,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = `undo the removal of bridges of node ${node}`
  const { pending } = yield* readNodeNetwork(client, node)
  if (pending.length === 0) return
  yield* requireOurs(node, pending, ({ name, change }) => change === "removed" && bridges.includes(name), doing)
  yield* dropEdits(client, node, doing)
})

/** Reloads a node's network if needed; undefined when everything is already in force. */
export const startReload = Effect.fnUntraced(function* (
  client: PveClient,
  { node, present, absent }: Of<"reload-network">,
  doing: string,
): Effect.fn.Return<unknown, HypervisorFault> {
  const { pending } = yield* readNodeNetwork(client, node)
  if (pending.length === 0) return undefined
  const isOurs = ({ name, change }: Pending[number]): boolean =>
    (change === "removed" && absent.includes(name)) || (change !== "removed" && present.includes(name))
  yield* requireOurs(node, pending, isOurs, doing)
  const hanging = absent.length === 0 ? [] : hangingOn(yield* readNodeGuests(client, node), new Set(absent))
  if (hanging.length > 0) {
    // all pending edits are ours: nobody's next reload may cut these machines off
    yield* dropEdits(client, node, doing)
    return yield* stillUsed(doing, hanging, "bridges that would be removed, so the node's network was left as it is")
  }
  return (yield* client.put(path`/nodes/${node}/network`, {}, { doing })).data
})

/** Fails unless these bridges are configured on the node, those are not, and nothing waits for a reload. */
export const proveBridges = Effect.fnUntraced(function* (
  client: PveClient,
  node: string,
  networks: { readonly present: readonly string[]; readonly absent: readonly string[] },
  doing: string,
): Effect.fn.Return<void, HypervisorFault> {
  const { bridges, pending } = yield* readNodeNetwork(client, node)
  const there = new Set(bridges.map(({ name }) => name))
  const waiting = new Set(pending.map(({ name }) => name))
  const wrong = [
    ...networks.present.filter((name) => !there.has(name) || waiting.has(name)).map((name) => `${name} is missing`),
    ...networks.absent.filter((name) => there.has(name) || waiting.has(name)).map((name) => `${name} is still there`),
  ]
  if (wrong.length === 0) return
  return yield* new HypervisorFault({
    doing,
    reason: "failed",
    detail: `node ${node} is not as it should be (${wrong.slice(0, 10).join(", ")})`,
    hint: `Check the network reload task (srvreload) of node ${node}.`,
  })
})
