import { carriesMark, type MigrationAction, type MoveGuard, nicChange, nicNetwork } from "@rangewright/domain"
import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { readConfig } from "../hypervisor/identity.ts"
import { findElsewhere, proveGone } from "../hypervisor/seek.ts"
import { type Fields, flag, list, number, rows, text } from "../wire/read.ts"
import { nicTexts } from "./observe-machines.ts"

type Of<K extends MigrationAction["kind"]> = Extract<MigrationAction, { readonly kind: K }>

/**
 * The configuration, wherever in the cluster the VM is now: it may have been migrated since. Undefined when it is proven to be gone; `view`
 * as in `readConfig`.
 */
const locate = Effect.fnUntraced(function* (
  client: PveClient,
  { vmid, node }: Pick<Of<"move-nics">, "vmid" | "node">,
  doing: string,
  view: Parameters<typeof readConfig>[4],
): Effect.fn.Return<{ readonly node: string; readonly config: Fields } | undefined, HypervisorFault> {
  const here = yield* readConfig(client, node, vmid, doing, view)
  if (here !== undefined) return { node, config: here }
  const found = yield* findElsewhere(client, vmid, doing, node)
  if (found === undefined) return yield* Effect.as(proveGone(client, { vmid, node }, doing), undefined)
  const there = yield* readConfig(client, found.node, vmid, doing, view)
  if (there !== undefined) return { node: found.node, config: there }
  return yield* new HypervisorFault({ doing, reason: "locked", detail: `it has left node ${found.node} in the meantime` })
})

const inPool = (client: PveClient, poolid: string, vmid: number, doing: string): Effect.Effect<boolean, HypervisorFault> =>
  Effect.map(client.get("/pools", { poolid }, { doing }), (reply) =>
    rows(reply.data).some((pool) => list(pool, "members").some((member) => number(member, "vmid") === vmid)),
  )

/** Whether the VM is the one in the plan. */
const isExpected = Effect.fnUntraced(function* (
  client: PveClient,
  guard: MoveGuard,
  vmid: number,
  config: Fields,
  doing: string,
): Effect.fn.Return<boolean, HypervisorFault> {
  if (flag(config, "template")) return false
  if (guard.type === "mark") return carriesMark(text(config, "description") ?? "", guard.mark)
  return (text(config, "name") ?? "") === guard.name && (yield* inPool(client, guard.pool, vmid, doing))
})

/** Moves a VM's cards in one call, guarded by the digest of what was read. False when the VM is gone and there is nothing to move. */
export const moveNics = Effect.fnUntraced(function* (
  client: PveClient,
  action: Of<"move-nics">,
): Effect.fn.Return<boolean, HypervisorFault> {
  const { vmid, guard, nics } = action
  const doing = `move the network cards of VM ${vmid} (${action.name})`
  const found = yield* locate(client, action, doing, "configured")
  if (found === undefined) return false
  if (!(yield* isExpected(client, guard, vmid, found.config, doing)))
    return yield* new HypervisorFault({
      doing,
      reason: "not-ours",
      detail: `VM ${vmid} on node ${found.node} (${text(found.config, "name") ?? "no name"}) is not the machine that was planned`,
      hint: "It is left unchanged. Start again, which creates a new plan.",
    })
  const cards = new Map(nicTexts(found.config).map((card) => [card.nic, card.text]))
  const changes: Record<string, string> = {}
  for (const move of nics) {
    const change = nicChange(cards.get(move.nic), move)
    if (change.type === "elsewhere")
      return yield* new HypervisorFault({
        doing,
        reason: "failed",
        detail: `${move.nic} is ${change.network === undefined ? "gone" : `on ${change.network}`}, but should have moved from ${move.from} to ${move.to}`,
        hint: "Somebody has changed it in the meantime. Start again, which creates a new plan.",
      })
    if (change.type === "write") changes[move.nic] = change.text
  }
  if (Object.keys(changes).length === 0) return true
  const digest = text(found.config, "digest")
  yield* client.put(
    path`/nodes/${found.node}/qemu/${vmid}/config`,
    { ...changes, ...(digest === undefined ? {} : { digest }) },
    { doing },
  )
  return true
})

/** Fails when one of the machines is still attached to a network that is being left. */
export const proveMachines = Effect.fnUntraced(function* (
  client: PveClient,
  { node, machines, leaving }: Of<"verify-machines">,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = `verify the network cards of machines on ${node}`
  const old = new Set(leaving)
  const left = yield* Effect.forEach(
    machines,
    (vmid) =>
      Effect.gen(function* () {
        // changes pending until a running VM's next start do not count
        const found = yield* locate(client, { vmid, node }, doing, "inForce")
        const cards = nicTexts(found?.config ?? {}).filter((card) => old.has(nicNetwork(card.text) ?? ""))
        return cards.map(({ nic }) => `${nic} of VM ${vmid}`)
      }),
    { concurrency: 16 },
  )
  const names = left.flat()
  if (names.length === 0) return
  return yield* new HypervisorFault({
    doing,
    reason: "failed",
    detail: `${names.slice(0, 10).join(", ")} ${names.length === 1 ? "is" : "are"} still attached to a network that is being replaced`,
    hint: "Start again: they will move.",
  })
})
