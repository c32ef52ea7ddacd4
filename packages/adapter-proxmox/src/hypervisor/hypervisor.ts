import type { Json, ObservedMachine } from "@rangewright/domain"
import { type Hypervisor, HypervisorFault, type HypervisorNetwork, type MachineAction, monotonicMillis } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { membersOf } from "../access/pools.ts"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import type { TaskOutcome } from "../tasks/outcome.ts"
import { parseUpid, type Upid } from "../tasks/upid.ts"
import type { AwaitTask } from "../tasks/watcher.ts"
import { machineOf, nodeOf, pick, storageOf, zoneOf } from "../wire/cluster.ts"
import { type Fields, flag, listed, nodeIn, number, recordOf, rows, text } from "../wire/read.ts"
import { detailOf } from "../wire/vm-config.ts"
import { adopt } from "./adopt.ts"
import { guestAddresses, guestSessions, guestSystem } from "./agent.ts"
import { makeBootTimes } from "./boot-times.ts"
import { clone } from "./clone.ts"
import { configure } from "./configure.ts"
import { disguiseMeans } from "./disguise-means.ts"
import { type Identity, onItsNode, readConfig } from "./identity.ts"
import type { MachineKind, MachineContext, MachineOptions } from "./machine-kind.ts"
import { shutdown, start, stop } from "./power.ts"
import { remove } from "./remove.ts"
import { blindness, seek } from "./seek.ts"
import { makeSettledPower } from "./settled-power.ts"
import { snapshotCards } from "./snapshot-cards.ts"
import { canSnapshot, removeSnapshot, rollBack, snapshots, takeSnapshot } from "./snapshots.ts"

type Kinds = { readonly [K in MachineAction["kind"]]: MachineKind<Extract<MachineAction, { readonly kind: K }>> }

const kinds: Kinds = {
  clone,
  configure,
  start,
  stop,
  shutdown,
  delete: remove,
  "take-snapshot": takeSnapshot,
  "roll-back": rollBack,
  "remove-snapshot": removeSnapshot,
}

/** The record's type maps each action to the kind of its own name, which the compiler cannot follow through a lookup. */
const kindOf = (action: MachineAction): MachineKind<MachineAction> => kinds[action.kind] as MachineKind<MachineAction>

/** The fault of an answer that does not say what was asked. */
const unclear = (doing: string, detail: string): HypervisorFault => new HypervisorFault({ doing, reason: "away", detail })

/** `dispatch` returns `{"task": "UPID:…"}`, or `{"task": null}` when there is something to wait for that has no task. */
const readToken = (token: Json) => parseUpid(recordOf(token)["task"])

export const makeHypervisor = (
  client: PveClient,
  awaitTask: AwaitTask,
  identity: Identity,
  networks: Context.Service.Shape<typeof HypervisorNetwork>,
  options: MachineOptions,
): Context.Service.Shape<typeof Hypervisor> => {
  const context: MachineContext = { client, identity, networks, options, bootTimes: makeBootTimes(), startedAt: new Map() }
  const power = makeSettledPower()

  const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
  /** `at`: when it was asked for. An answer shows nothing that happened after it was made, however late it is read. */
  const clusterOf = Effect.fnUntraced(function* (at: Date, machines: readonly ObservedMachine[], others: readonly Fields[]) {
    const nodes = pick(others, nodeOf)
    return {
      at,
      nodes,
      storages: pick(others, storageOf),
      machines: power.over(machines, nodes, yield* monotonicMillis),
      zones: pick(others, zoneOf),
    }
  })

  /** When the node is down but the machine now runs on another one, the task counts as lost. */
  const outcomeOf = Effect.fnUntraced(function* (
    action: MachineAction,
    upid: Upid,
  ): Effect.fn.Return<TaskOutcome, HypervisorFault> {
    const ended = yield* Effect.result(awaitTask(upid))
    if (Result.isSuccess(ended)) return ended.success
    if (ended.failure.facts.reason !== "away") return yield* ended.failure
    const found = yield* identity.locate(action.machine, ended.failure.facts.doing)
    if (found === undefined || found.node === upid.node) return yield* ended.failure
    return { type: "vanished", detail: `node ${upid.node} is unreachable, and the VM is on ${found.node}` }
  })
  return {
    observe: Effect.gen(function* () {
      const at = yield* now
      const all = rows((yield* client.get("/cluster/resources", {}, { doing: "observe the cluster" })).data)
      // in a large cluster nearly all rows are VMs, so they are picked first; the rest is scanned more than once
      return yield* clusterOf(
        at,
        pick(all, machineOf),
        all.filter((row) => text(row, "type") !== "qemu"),
      )
    }),
    observePool: Effect.fnUntraced(function* (poolid) {
      const at = yield* now
      const doing = `observe the pool ${poolid}`
      const ofType = (type: string) => Effect.map(client.get("/cluster/resources", { type }, { doing }), ({ data }) => rows(data))
      const [members, ...others] = yield* Effect.all(
        [membersOf(client, poolid, doing), ofType("node"), ofType("storage"), ofType("sdn")],
        { concurrency: "unbounded" },
      )
      // members name neither their pool nor their tags
      const { zones, ...seen } = yield* clusterOf(
        at,
        pick(members, (row) => machineOf({ ...row, pool: poolid, tags: "" })),
        others.flat(),
      )
      // whether zones are listed under this type depends on the version
      return zones.length === 0 ? seen : { ...seen, zones }
    }),
    seek: (vmid, lastSeenOn) => seek(client, vmid, lastSeenOn),
    blindness: blindness(client),
    detail: Effect.fnUntraced(function* (node, vmid) {
      const doing = `read the configuration of VM ${vmid}`
      return yield* onItsNode(client, { node, vmid }, doing, (now) =>
        Effect.flatMap(readConfig(client, now, vmid, doing, "inForce"), (config) =>
          config === undefined
            ? Effect.fail(new HypervisorFault({ doing, reason: "not-found", detail: `there is no VM ${vmid} on node ${now}` }))
            : Effect.succeed(detailOf(now, vmid, config)),
        ),
      )
    }),
    snapshots: (node, vmid) => snapshots(client, node, vmid),
    snapshotCards: (node, vmid, name) => snapshotCards(client, node, vmid, name),
    canSnapshot: (node, vmid) => canSnapshot(client, node, vmid),
    disguiseMeans: disguiseMeans(client),
    dispatch: Effect.fnUntraced(function* (action) {
      power.begun(action)
      const started = yield* kindOf(action).dispatch(context, action)
      return { token: started === "done" ? null : { task: started.task?.text ?? null } }
    }),
    settle: Effect.fnUntraced(function* (action, token) {
      const upid = token === null ? undefined : readToken(token)
      const outcome = upid === undefined ? undefined : yield* outcomeOf(action, upid)
      const warnings = token === null ? undefined : yield* kindOf(action).settle(context, action, outcome)
      power.settled(action, yield* monotonicMillis)
      return warnings ?? []
    }),
    adopt: (vm, description) => adopt(client, vm, description),
    addresses: (node, vmid) => guestAddresses(client, node, vmid),
    system: (node, vmid) => guestSystem(client, node, vmid),
    sessions: (node, vmid) => guestSessions(client, node, vmid),
    clock: Effect.gen(function* () {
      const doing = "read the time of a node"
      const nodes = rows((yield* client.get("/nodes", {}, { doing })).data)
      const node = nodeIn(nodes.find((n) => text(n, "status") === "online") ?? {})
      if (node === undefined) return yield* new HypervisorFault({ doing, reason: "away", detail: "no node is online" })
      const reply = yield* client.get(path`/nodes/${node}/time`, {}, { doing })
      const seconds = number(recordOf(reply.data), "time")
      if (seconds === undefined) return yield* unclear(doing, `node ${node} gives no time`)
      return new Date(seconds * 1000)
    }),
    quorate: Effect.gen(function* () {
      const doing = "read the state of the cluster"
      const found = listed((yield* client.get("/cluster/status", {}, { doing })).data)
      if (found === undefined) return yield* unclear(doing, "the answer is not a list")
      return found.every((row) => text(row, "type") !== "cluster" || flag(row, "quorate"))
    }),
    version: client
      .get("/version", {}, { doing: "read the version of Proxmox" })
      .pipe(Effect.map((reply) => text(recordOf(reply.data), "version") ?? "unknown")),
  }
}
