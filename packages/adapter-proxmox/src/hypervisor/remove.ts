import { HypervisorFault, type MachineAction } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { path } from "../client/form.ts"
import { lookUntil, startedTask, taskFault } from "../tasks/settlement.ts"
import { movedAway } from "./identity.ts"
import type { MachineKind } from "./machine-kind.ts"
import { proveGone } from "./seek.ts"

type DeleteAction = Extract<MachineAction, { readonly kind: "delete" }>

const doingOf = (action: DeleteAction): string => `delete VM ${action.machine.vmid} (${action.machine.mark.machine})`

const lostSeconds = 60

/**
 * Deletes a VM with its disks and all references to it. Its mark is read right before, whatever was known: the id may have been given to
 * another VM. Settled when the whole cluster no longer knows the VM.
 */
export const remove: MachineKind<DeleteAction> = {
  dispatch: Effect.fnUntraced(function* (context, action) {
    const doing = doingOf(action)
    const found = yield* context.identity.verify(action.machine, doing)
    if (found === undefined) {
      yield* proveGone(context.client, action.machine, doing)
      return "done"
    }
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
    if (gone !== undefined) return isDone ? undefined : yield* proveGone(context.client, action.machine, doing)
    if (!isDone) return yield* taskFault(doing, outcome)
    return yield* new HypervisorFault({ doing, reason: "failed", detail: "its task succeeded, but the VM still exists" })
  }),
}
