import type { PowerState, Vmid } from "@rangewright/domain"
import { HypervisorFault, type Sought } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import { livePowerOf } from "../wire/cluster.ts"
import { child, flag, nodeIn, number, recordOf, rows, text } from "../wire/read.ts"

/**
 * Whether a VM or container has the number, on any node. The cluster's own guest table answers this regardless of rights and of nodes that
 * are down.
 */
const isTaken = (client: PveClient, vmid: Vmid, doing: string): Effect.Effect<boolean, HypervisorFault> =>
  client.get("/cluster/nextid", { vmid }, { doing }).pipe(
    Effect.as(false),
    Effect.catchIf(
      (fault) => fault.facts.reason === "taken",
      () => Effect.succeed(true),
    ),
  )

/** The cluster's nodes, including those that are down. */
const nodesOf = (client: PveClient, doing: string): Effect.Effect<readonly string[], HypervisorFault> =>
  Effect.map(client.get("/nodes", {}, { doing }), (reply) => rows(reply.data).flatMap((row) => nodeIn(row) ?? []))

/** What the node reports about the VM; undefined when it has no such VM. That is certain because Proxmox checks rights first. */
const powerOn = (
  client: PveClient,
  node: string,
  vmid: Vmid,
  doing: string,
): Effect.Effect<PowerState | undefined, HypervisorFault> =>
  client.get(path`/nodes/${node}/qemu/${vmid}/status/current`, {}, { doing }).pipe(
    Effect.map((reply): PowerState | undefined => livePowerOf(recordOf(reply.data))),
    Effect.catchIf(
      (fault) => fault.facts.reason === "not-found",
      () => Effect.succeed(undefined),
    ),
  )

interface Place {
  readonly node: string
  readonly power: PowerState
}

/**
 * Locates a VM that is not where it was last seen. It is queried individually, because a list proves nothing. Undefined when it does not
 * exist, or a container has its number now. Fails when a node that could have it is silent, and while the cluster and its nodes contradict
 * each other.
 */
export const findElsewhere = Effect.fnUntraced(function* (
  client: PveClient,
  vmid: Vmid,
  doing: string,
  lastSeenOn: string | undefined,
): Effect.fn.Return<Place | undefined, HypervisorFault> {
  if (!(yield* isTaken(client, vmid, doing))) return undefined
  const list = rows((yield* client.get("/cluster/resources", { type: "vm" }, { doing })).data)
  const row = list.find((candidate) => number(candidate, "vmid") === vmid)
  if (row !== undefined && text(row, "type") === "lxc") return undefined
  const listed = row === undefined ? undefined : nodeIn(row)
  const nodes = listed === undefined ? yield* nodesOf(client, doing) : [listed]
  for (const node of nodes.filter((each) => each !== lastSeenOn)) {
    const power = yield* powerOn(client, node, vmid, doing)
    if (power !== undefined) return { node, power }
  }
  const detail =
    listed === undefined
      ? "its VMID is in use, but no node has it"
      : `the cluster lists it on node ${listed}, which does not have it`
  return yield* new HypervisorFault({
    doing,
    reason: "locked",
    detail,
    hint: "It may be migrating; the service looks for it again.",
  })
})

const place = Effect.fnUntraced(function* (
  client: PveClient,
  vmid: Vmid,
  lastSeenOn: string | undefined,
): Effect.fn.Return<Place | undefined, HypervisorFault> {
  const doing = `look for VM ${vmid}`
  if (lastSeenOn === undefined) return yield* findElsewhere(client, vmid, doing, undefined)
  const here = yield* Effect.result(powerOn(client, lastSeenOn, vmid, doing))
  if (here._tag === "Success" && here.success !== undefined) return { node: lastSeenOn, power: here.success }
  // a node that has left the cluster has nothing any more; one that is merely silent may have it
  const hasLeft =
    here._tag === "Failure" && here.failure.facts.reason === "away" && !(yield* nodesOf(client, doing)).includes(lastSeenOn)
  if (here._tag === "Failure" && !hasLeft) return yield* here.failure
  return yield* findElsewhere(client, vmid, doing, lastSeenOn)
})

/** Locates a single VM. */
export const seek = (client: PveClient, vmid: Vmid, lastSeenOn: string | undefined): Effect.Effect<Sought> =>
  Effect.match(place(client, vmid, lastSeenOn), {
    onSuccess: (found): Sought => (found === undefined ? { type: "absent" } : { type: "there", ...found }),
    onFailure: ({ facts }): Sought => ({ type: "unknown", why: facts.detail }),
  })

/** Without these rights, lists silently omit VMs, or the pools that show whose they are. */
const sight = [
  ["/vms", "VM.Audit"],
  ["/pool", "Pool.Audit"],
] as const

/** Why lists may omit what exists: three small reads, made only when a list lacks something. */
export const blindness = Effect.fnUntraced(function* (client: PveClient): Effect.fn.Return<string | undefined, HypervisorFault> {
  const doing = "read the rights of the service's account"
  const lacking: string[] = []
  for (const [place, privilege] of sight) {
    const held = child(recordOf((yield* client.get("/access/permissions", { path: place }, { doing })).data), place)
    // a right that is granted here only does not apply below
    if (!flag(held, privilege)) lacking.push(`${privilege} on ${place}`)
  }
  if (lacking.length > 0) return `the service's account lacks ${lacking.join(" and ")}, so lists may be incomplete`
  const status = rows((yield* client.get("/cluster/status", {}, { doing: "read the state of the cluster" })).data)
  const isCutOff = status.some((row) => text(row, "type") === "cluster" && !flag(row, "quorate"))
  return isCutOff ? "the cluster has lost quorum, so the node that is asked may be outdated" : undefined
})

/** Pause between two queries: a node whose cluster file system restarts knows no VM at all. */
const askAgainSeconds = 5

/** Fails with `locked` unless a VM that was not found is certainly gone: one lookup that finds nothing does not prove it. */
export const proveGone = Effect.fnUntraced(function* (
  client: PveClient,
  { vmid, node }: { readonly vmid: Vmid; readonly node: string },
  doing: string,
): Effect.fn.Return<void, HypervisorFault> {
  yield* Effect.sleep(askAgainSeconds * 1000)
  const found = yield* seek(client, vmid, node)
  if (found.type === "there")
    return yield* new HypervisorFault({
      doing,
      reason: "locked",
      detail: `it was not found at first, but is on node ${found.node}`,
    })
  const doubt = found.type === "absent" ? yield* blindness(client) : found.why
  if (doubt === undefined) return
  return yield* new HypervisorFault({ doing, reason: "locked", detail: `it is not certain that the VM is gone: ${doubt}` })
})
