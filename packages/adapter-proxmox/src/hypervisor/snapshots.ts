import { isSnapshotOf, isTakenAt, type MachineRef, type MachineSnapshot, type SnapshotTree, type Vmid } from "@rangewright/domain"
import { HypervisorFault, type MachineAction } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { PveClient } from "../client/client.ts"
import { path } from "../client/form.ts"
import type { TaskOutcome } from "../tasks/outcome.ts"
import { lookUntil, startedTask, taskFault } from "../tasks/settlement.ts"
import { parseUpid, type Upid } from "../tasks/upid.ts"
import { type Fields, flag, number, recordOf, rows, text } from "../wire/read.ts"
import { correctClock } from "./guest-clock.ts"
import { movedAway, onItsNode } from "./identity.ts"
import type { MachineKind, MachineContext, Started } from "./machine-kind.ts"

type Kind = "take-snapshot" | "roll-back" | "remove-snapshot"
type SnapshotAction = Extract<MachineAction, { readonly kind: Kind }>
type Action<K extends Kind> = Extract<SnapshotAction, { readonly kind: K }>

const nameOf = (action: SnapshotAction): string => (action.kind === "take-snapshot" ? action.snapshot.name : action.snapshot)

const doingOf = (action: SnapshotAction): string => {
  const { vmid, mark } = action.machine
  const vm = `VM ${vmid} (${mark.machine})`
  switch (action.kind) {
    case "take-snapshot":
      return `take snapshot ${nameOf(action)} of ${vm}`
    case "roll-back":
      return `roll ${vm} back to snapshot ${nameOf(action)}`
    case "remove-snapshot":
      return `remove snapshot ${nameOf(action)} of ${vm}`
  }
}

/** The last entry of a VM's snapshot list, which stands for the VM itself. */
const itself = "current"

const snapshotOf = (row: Fields): MachineSnapshot | undefined => {
  const name = text(row, "name")
  if (name === undefined || name === itself) return undefined
  return {
    name,
    description: (text(row, "description") ?? "").trim(),
    takenAt: Math.max(0, Math.floor(number(row, "snaptime") ?? 0)),
    memory: flag(row, "vmstate"),
    parent: text(row, "parent"),
    incomplete: text(row, "snapstate") !== undefined,
  }
}

/** Undefined when the answer is not a list of snapshots, or is truncated: the VM itself is always in it. */
const treeOf = (data: unknown): SnapshotTree | undefined => {
  const all = rows(data)
  const now = all.find((row) => text(row, "name") === itself)
  if (now === undefined) return undefined
  return {
    snapshots: all.flatMap((row) => snapshotOf(row) ?? []),
    current: text(now, "parent"),
    ...(now["running"] === undefined ? {} : { running: flag(now, "running") }),
  }
}

const readTree = (client: PveClient, node: string, vmid: Vmid, doing: string): Effect.Effect<SnapshotTree, HypervisorFault> =>
  Effect.flatMap(client.get(path`/nodes/${node}/qemu/${vmid}/snapshot`, {}, { doing }), ({ data }) => {
    const tree = treeOf(data)
    return tree === undefined
      ? Effect.fail(
          new HypervisorFault({
            doing,
            reason: "away",
            detail: "the answer is not a list of snapshots that includes the VM itself",
          }),
        )
      : Effect.succeed(tree)
  })

export const snapshots = (client: PveClient, node: string, vmid: Vmid): Effect.Effect<SnapshotTree, HypervisorFault> => {
  const doing = `read the snapshots of VM ${vmid}`
  return onItsNode(client, { node, vmid }, doing, (now) => readTree(client, now, vmid, doing))
}

export const canSnapshot = (client: PveClient, node: string, vmid: Vmid): Effect.Effect<boolean, HypervisorFault> => {
  const doing = `ask whether VM ${vmid} can have snapshots`
  return onItsNode(client, { node, vmid }, doing, (now) =>
    Effect.map(client.get(path`/nodes/${now}/qemu/${vmid}/feature`, { feature: "snapshot" }, { doing }), ({ data }) =>
      flag(recordOf(data), "hasFeature"),
    ),
  )
}

/** The observed state of a machine and its snapshots. */
interface Seen {
  readonly node: string
  readonly tree: SnapshotTree
  readonly snapshot: MachineSnapshot | undefined
  readonly lock: string | undefined
  readonly digest: string | undefined
  readonly generation: string | undefined
}

/** Reads both, and checks the owner of the VM first: the id may have been given to another VM. */
const look = Effect.fnUntraced(function* (
  context: MachineContext,
  ref: MachineRef,
  name: string,
  doing: string,
): Effect.fn.Return<Seen, HypervisorFault> {
  const found = yield* context.identity.verify(ref, doing)
  if (found === undefined)
    return yield* new HypervisorFault({ doing, reason: "not-found", detail: `VM ${ref.vmid} does not exist` })
  const { node } = found
  const config = recordOf(found.config)
  const tree = yield* movedAway(doing, node)(readTree(context.client, node, ref.vmid, doing))
  return {
    node,
    tree,
    snapshot: tree.snapshots.find((one) => one.name === name),
    lock: text(config, "lock"),
    digest: text(config, "digest"),
    generation: text(config, "vmgenid"),
  }
})

const taskTypes: Readonly<Record<Kind, string>> = {
  "take-snapshot": "qmsnapshot",
  "roll-back": "qmrollback",
  "remove-snapshot": "qmdelsnapshot",
}

/** A task of this kind that works on the VM now, whose answer was lost. */
const runningTask = (
  context: MachineContext,
  kind: Kind,
  machine: MachineRef,
  doing: string,
): Effect.Effect<Upid | undefined, HypervisorFault> =>
  Effect.map(context.client.get("/cluster/tasks", {}, { doing }), ({ data }) => {
    const found = rows(data).find(
      (row) =>
        text(row, "type") === taskTypes[kind] && text(row, "id") === String(machine.vmid) && text(row, "endtime") === undefined,
    )
    return parseUpid(found === undefined ? undefined : text(found, "upid"))
  })

/** The fault of a lock that no task of this kind holds: somebody else's, or an aborted one's. */
const lockedFault = (action: SnapshotAction, lock: string, doing: string): HypervisorFault =>
  new HypervisorFault({
    doing,
    reason: "locked",
    detail: `the VM is locked (${lock})`,
    hint: `Remove a stale lock on its node with: qm unlock ${action.machine.vmid}`,
  })

const locksOf: Readonly<Record<Kind, string>> = {
  "take-snapshot": "snapshot",
  "roll-back": "rollback",
  "remove-snapshot": "snapshot-delete",
}

/** Starts the task, unless one of the same kind, whose answer was lost, is already running. */
const begin = Effect.fnUntraced(function* (
  context: MachineContext,
  action: SnapshotAction,
  seen: Seen,
  call: ReturnType<PveClient["post"]>,
): Effect.fn.Return<Started, HypervisorFault> {
  const doing = doingOf(action)
  if (seen.lock !== undefined) {
    if (seen.lock !== locksOf[action.kind]) return yield* lockedFault(action, seen.lock, doing)
    const task = yield* runningTask(context, action.kind, action.machine, doing)
    if (task !== undefined) return { task }
    // it may have ended since the lock was read; its result is checked when it is settled
    const { lock } = yield* look(context, action.machine, nameOf(action), doing)
    return lock === undefined ? { task: undefined } : yield* lockedFault(action, lock, doing)
  }
  return { task: yield* startedTask(yield* movedAway(doing, seen.node)(call), doing) }
})

/** A task whose end is not known may still be running. */
const followSeconds = 120
const pace = (outcome: TaskOutcome | undefined) => ({
  seconds: outcome?.type === "vanished" ? followSeconds : 0,
  fastest: 1,
  slowest: 5,
})

/** Polls until the effect is there, or nothing works on the VM any more. */
const settled = Effect.fnUntraced(function* (
  context: MachineContext,
  action: SnapshotAction,
  outcome: TaskOutcome | undefined,
  isThere: (seen: Seen) => boolean,
): Effect.fn.Return<Seen, HypervisorFault> {
  const doing = doingOf(action)
  const found = yield* lookUntil(
    () =>
      Effect.map(look(context, action.machine, nameOf(action), doing), (seen) =>
        isThere(seen) || seen.lock !== locksOf[action.kind] ? seen : undefined,
      ),
    pace(outcome),
  )
  if (found !== undefined && isThere(found)) return found
  if (outcome !== undefined && outcome.type !== "ok") {
    const fault = taskFault(doing, outcome)
    // somebody else was first
    if (fault.facts.reason === "locked") return yield* fault
    const lock = found === undefined ? locksOf[action.kind] : found.lock
    if (lock === undefined || outcome.type === "vanished") return yield* fault
    return yield* new HypervisorFault({
      doing,
      reason: "failed",
      detail: `${fault.facts.detail}; it was interrupted and left the VM locked (${lock})`,
      hint: `Check it, then remove the lock on its node with: qm unlock ${action.machine.vmid}`,
    })
  }
  return yield* new HypervisorFault({
    doing,
    reason: "unknown-effect",
    detail: "its task ended without effect",
  })
})

/** The requested snapshot exists and is complete: its description has the request's mark. */
const isTaken =
  ({ snapshot: wanted }: Action<"take-snapshot">) =>
  ({ snapshot }: Seen): boolean =>
    snapshot !== undefined && !snapshot.incomplete && isSnapshotOf(snapshot, wanted.description)

/** Takes a snapshot. An existing one of this name counts as the requested one if it has its description; never takes a second one. */
export const takeSnapshot: MachineKind<Action<"take-snapshot">> = {
  dispatch: Effect.fnUntraced(function* (context, action) {
    const doing = doingOf(action)
    const { name, description, memory } = action.snapshot
    const seen = yield* look(context, action.machine, name, doing)
    if (isTaken(action)(seen)) return "done"
    if (seen.snapshot !== undefined && !isSnapshotOf(seen.snapshot, description))
      return yield* new HypervisorFault({ doing, reason: "taken", detail: "the VM has another snapshot with this name" })
    const call = context.client.post(
      path`/nodes/${seen.node}/qemu/${action.machine.vmid}/snapshot`,
      { snapname: name, description, vmstate: memory },
      { doing },
    )
    return yield* begin(context, action, seen, call)
  }),
  settle: (context, action, outcome) => Effect.as(settled(context, action, outcome, isTaken(action)), []),
}

/** The VM is on the intended snapshot, and nothing works on it. */
const isBack =
  (action: Action<"roll-back">) =>
  ({ tree, lock, snapshot }: Seen): boolean =>
    lock === undefined && tree.current === action.snapshot && snapshot !== undefined && isTakenAt(snapshot, action.takenAt)

/** Whether it was rolled back since it was planned: it may have been on this very snapshot before. Each rollback changes its generation. */
const hasChanged =
  (action: Action<"roll-back">) =>
  ({ generation, digest }: Seen): boolean =>
    action.generation === undefined ? action.digest !== undefined && digest !== action.digest : generation !== action.generation

/**
 * Rolls a VM back to a snapshot, which stops it; its start is another action. With saved memory the hypervisor resumes it with the clock of
 * that time, which is corrected. When the memory cannot be restored, the VM is still rolled back, without it.
 */
export const rollBack: MachineKind<Action<"roll-back">> = {
  dispatch: Effect.fnUntraced(function* (context, action) {
    const doing = doingOf(action)
    const seen = yield* look(context, action.machine, action.snapshot, doing)
    if (seen.snapshot === undefined)
      return yield* new HypervisorFault({ doing, reason: "failed", detail: "the VM has no snapshot with this name" })
    if (!isTakenAt(seen.snapshot, action.takenAt))
      return yield* new HypervisorFault({
        doing,
        reason: "failed",
        detail: "the snapshot with this name was removed, and another one was taken since",
        hint: "Check the snapshots, and roll back to the one that you want.",
      })
    // an earlier call succeeded but its answer was lost: what ran in the VM since is kept
    if (action.generation !== undefined && isBack(action)(seen) && hasChanged(action)(seen)) return { task: undefined }
    const { vmid } = action.machine
    const call = context.client.post(path`/nodes/${seen.node}/qemu/${vmid}/snapshot/${action.snapshot}/rollback`, {}, { doing })
    return yield* begin(context, action, seen, call)
  }),
  settle: Effect.fnUntraced(function* (context, action, outcome) {
    const isDone = (seen: Seen): boolean => isBack(action)(seen) && (outcome?.type === "ok" || hasChanged(action)(seen))
    const seen =
      outcome?.type === "failed"
        ? yield* look(context, action.machine, action.snapshot, doingOf(action))
        : yield* settled(context, action, outcome, isDone)
    const hasMemory = seen.snapshot?.memory === true
    if (outcome?.type === "failed" && !(isDone(seen) && hasMemory)) {
      yield* settled(context, action, outcome, () => false)
      return []
    }
    if (!hasMemory) return []
    if (outcome?.type !== "failed" && seen.tree.running !== false) {
      const oldClock = yield* correctClock(context, action.machine)
      return oldClock === undefined ? [] : [oldClock]
    }
    return [`its memory could not be restored, so it boots instead${outcome?.type === "failed" ? `: ${outcome.detail}` : ""}`]
  }),
}

/** Removes a snapshot; one that is gone is success. With a description, only the snapshot that has it. */
export const removeSnapshot: MachineKind<Action<"remove-snapshot">> = {
  dispatch: Effect.fnUntraced(function* (context, action) {
    const doing = doingOf(action)
    const seen = yield* look(context, action.machine, action.snapshot, doing)
    // one of the same name that was taken since is not the one to remove
    if (seen.snapshot === undefined || !isTakenAt(seen.snapshot, action.takenAt)) {
      // one that is being taken now may be the one to remove, even before its task holds the lock
      const isMade =
        seen.lock === locksOf["take-snapshot"] ||
        (yield* runningTask(context, "take-snapshot", action.machine, doing)) !== undefined
      if (isMade) return yield* lockedFault(action, locksOf["take-snapshot"], doing)
      return "done"
    }
    if (action.description !== undefined && !isSnapshotOf(seen.snapshot, action.description))
      return yield* new HypervisorFault({
        doing,
        reason: "not-ours",
        detail: "the snapshot with this name was made for something else",
      })
    const call = context.client.remove(
      path`/nodes/${seen.node}/qemu/${action.machine.vmid}/snapshot/${action.snapshot}`,
      {},
      { doing },
    )
    return yield* begin(context, action, seen, call)
  }),
  settle: (context, action, outcome) =>
    Effect.as(
      settled(
        context,
        action,
        outcome,
        ({ snapshot, lock }) => (snapshot === undefined || !isTakenAt(snapshot, action.takenAt)) && lock === undefined,
      ),
      [],
    ),
}
