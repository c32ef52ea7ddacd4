import { HypervisorFault, type MachineAction } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { path } from "../client/form.ts"
import { lookUntil, startedTask, taskFault } from "../tasks/settlement.ts"
import { movedAway } from "./identity.ts"
import type { MachineKind, MachineContext } from "./machine-kind.ts"
import { blindness, seek } from "./seek.ts"

type DeleteAction = Extract<MachineAction, { readonly kind: "delete" }>

const doingOf = (action: DeleteAction): string => `delete VM ${action.machine.vmid} (${action.machine.mark.machine})`

const lostSeconds = 60
/** Pause between two queries: a node whose cluster file system restarts knows no VM at all. */
const askAgainSeconds = 5

/** Verifies that the VM is already gone: one lookup that finds nothing does not prove it. */
const provenGone = Effect.fnUntraced(function* (context: MachineContext, { machine }: DeleteAction, doing: string) {
  yield* Effect.sleep(askAgainSeconds * 1000)
  const found = yield* seek(context.client, machine.vmid, machine.node)
  if (found.type === "there")
    return yield* new HypervisorFault({
      doing,
      reason: "locked",
      detail: `it was not found at first, but is on node ${found.node}`,
    })
  const doubt = found.type === "absent" ? yield* blindness(context.client) : found.why
  if (doubt === undefined) return "done" as const
  return yield* new HypervisorFault({ doing, reason: "locked", detail: `it is not certain that the VM is gone: ${doubt}` })
})

/**
 * Deletes a VM with its disks and all references to it. Its mark is read right before, whatever was known: the id may have been given to
 * another VM. Settled when the whole cluster no longer knows the VM.
 */
export const remove: MachineKind<DeleteAction> = {
  dispatch: Effect.fnUntraced(function* (context, action) {
    const doing = doingOf(action)
    const found = yield* context.identity.verify(action.machine, doing)
    if (found === undefined) return yield* provenGone(context, action, doing)
    const params = { purge: true, "destroy-unreferenced-disks": true }
    const removal = context.client.remove(path`/nodes/${found.node}/qemu/${action.machine.vmid}`, params, { doing })
    const reply = yield* movedAway(doing, found.node)(removal)
    return { task: yield* startedTask(reply, doing) }
  }),
  settle: Effect.fnUntraced(function* (context, action, outcome) {
    const doing = doingOf(action)
    context.identity.forget(action.machine.vmid)
    const gone = yield* lookUntil(
      () =>
        Effect.map(context.identity.locate(action.machine, doing), (found) =>
          found === undefined ? ("gone" as const) : undefined,
        ),
      // a lost task may still be running
      { seconds: outcome?.type === "vanished" ? lostSeconds : 0, fastest: 1, slowest: 5 },
    )
    const isDone = outcome === undefined || outcome.type === "ok"
    if (gone !== undefined) return isDone ? undefined : yield* Effect.asVoid(provenGone(context, action, doing))
    if (!isDone) return yield* taskFault(doing, outcome)
    return yield* new HypervisorFault({ doing, reason: "failed", detail: "its task succeeded, but the VM still exists" })
  }),
}
