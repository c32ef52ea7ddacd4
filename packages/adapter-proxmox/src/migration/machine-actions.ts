import { carriesMark, type MigrationAction, type MoveGuard, nicChange, nicNetwork, type NicText } from "@rangewright/domain"
import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { readConfig } from "../hypervisor/identity.ts"
import { type Fields, flag, list, number, recordOf, rows, text } from "../wire/read.ts"
import { nicTexts } from "./observe-machines.ts"

type Of<K extends MigrationAction["kind"]> = Extract<MigrationAction, { readonly kind: K }>

/** The configuration, wherever in the cluster the VM is now: it may have been migrated since. */
const locate = Effect.fnUntraced(function* (
  client: PveClient,
  { vmid, node }: Pick<Of<"move-nics">, "vmid" | "node">,
  doing: string,
): Effect.fn.Return<{ readonly node: string; readonly config: Fields } | undefined, HypervisorFault> {
  const here = yield* readConfig(client, node, vmid, doing)
  if (here !== undefined) return { node, config: here }
  const all = rows((yield* client.get("/cluster/resources", { type: "vm" }, { doing })).data)
  const other = all.find((row) => number(row, "vmid") === vmid)
  const elsewhere = other === undefined ? undefined : text(other, "node")
  if (elsewhere === undefined || elsewhere === node) return undefined
  const there = yield* readConfig(client, elsewhere, vmid, doing)
  return there === undefined ? undefined : { node: elsewhere, config: there }
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

/** The current cards of a VM: changes pending until a running VM's next start do not count. */
const cardsNow = (
  client: PveClient,
  node: string,
  vmid: number,
  doing: string,
): Effect.Effect<readonly NicText[], HypervisorFault> =>
  client.get(path`/nodes/${node}/qemu/${vmid}/config`, { current: true }, { doing }).pipe(
    Effect.map((reply) => nicTexts(recordOf(reply.data))),
    Effect.catchIf(
      ({ facts }) => facts.reason === "not-found",
      () => Effect.succeed([]),
    ),
  )

/** Moves a VM's cards in one call, guarded by the digest of what was read. False when the VM is gone and there is nothing to move. */
export const moveNics = Effect.fnUntraced(function* (
  client: PveClient,
  action: Of<"move-nics">,
): Effect.fn.Return<boolean, HypervisorFault> {
  const { vmid, guard, nics } = action
  const doing = `move the network cards of VM ${vmid} (${action.name})`
  const found = yield* locate(client, action, doing)
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
        const cards = (yield* cardsNow(client, node, vmid, doing)).filter((card) => old.has(nicNetwork(card.text) ?? ""))
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
