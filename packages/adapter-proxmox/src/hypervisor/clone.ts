import { carriesMark } from "@rangewright/domain"
import { HypervisorFault, type MachineAction } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { path, type Params } from "../client/form.ts"
import { lookUntil, startedTask, taskFault } from "../tasks/settlement.ts"
import { rows, text } from "../wire/read.ts"
import type { MachineKind, MachineContext } from "./machine-kind.ts"

export type CloneAction = Extract<MachineAction, { readonly kind: "clone" }>

const doingOf = (action: CloneAction): string =>
  `clone ${action.name} (VM ${action.machine.vmid}) from template ${action.template.name} (VM ${action.template.vmid})`

/**
 * `full` is always set: if omitted, a source that is no longer a template would be copied in full. A storage may be given for full clones
 * only, a target only when it is another node.
 */
const cloneParams = (action: CloneAction): Params => ({
  newid: action.machine.vmid,
  name: action.name,
  pool: action.pool,
  description: action.description,
  full: action.full,
  storage: action.full ? action.storage : undefined,
  target: action.machine.node === action.template.node ? undefined : action.machine.node,
})

/** Tasks distinguish a stale `lock: clone` from a running clone: it is stale when no clone runs. */
const cloneRuns = (context: MachineContext, doing: string) =>
  context.client
    .get("/cluster/tasks", {}, { doing })
    .pipe(
      Effect.map((reply) =>
        rows(reply.data).some((row) => text(row, "type") === "qmclone" && text(row, "endtime") === undefined),
      ),
    )

/** How long a machine stays locked by a clone without a task before the clone counts as aborted. */
const staleSeconds = 60

/** Waits until the VM is no longer being created, then returns whose it is. */
const settleByLooking: MachineKind<CloneAction>["settle"] = Effect.fnUntraced(function* (context, action) {
  const doing = doingOf(action)
  const fault = (reason: "taken" | "unknown-effect" | "failed", detail: string, hint?: string) =>
    new HypervisorFault({ doing, reason, detail, ...(hint === undefined ? {} : { hint }) })
  const verdict = yield* lookUntil(
    (waited) =>
      Effect.gen(function* () {
        const found = yield* context.identity.locate(action.machine, doing)
        if (found === undefined) return yield* fault("unknown-effect", `VM ${action.machine.vmid} does not exist`)
        // a backup, a migration or a snapshot may have locked it since
        if (text(found.config, "lock") !== "clone")
          return carriesMark(text(found.config, "description") ?? "", action.machine.mark)
            ? ("ours" as const)
            : ("foreign" as const)
        // a clone whose task was lost may still be running
        if (waited < staleSeconds || (yield* cloneRuns(context, doing))) return undefined
        return "stale" as const
      }),
    { seconds: context.options.cloneSeconds, fastest: 1, slowest: 10 },
  )
  if (verdict === "ours") return
  if (verdict === "foreign") return yield* fault("taken", `VM ${action.machine.vmid} exists already and is not ours`)
  return yield* fault(
    "failed",
    `VM ${action.machine.vmid} is locked by a clone that ${verdict === "stale" ? "was interrupted" : "does not end"}`,
    `Check it; if it is a leftover, remove it on its node with: qm unlock ${action.machine.vmid} && qm destroy ${action.machine.vmid}`,
  )
})

/**
 * Creates a VM. The call itself sets id, name, pool and mark, so the VM never exists without them. Trying the id is how a taken one is
 * detected; when the VM there is ours, from a call whose answer was lost, that is success.
 */
export const clone: MachineKind<CloneAction> = {
  dispatch: Effect.fnUntraced(function* (context, action) {
    const doing = doingOf(action)
    context.identity.forget(action.machine.vmid)
    const { node, vmid } = action.template
    const answer = yield* Effect.result(
      context.client.post(path`/nodes/${node}/qemu/${vmid}/clone`, cloneParams(action), { doing }),
    )
    if (answer._tag === "Success") return { task: yield* startedTask(answer.success, doing) }
    if (answer.failure.facts.reason !== "taken") return yield* Effect.fail(answer.failure)
    const found = yield* context.identity.locate(action.machine, doing)
    if (found === undefined) return yield* Effect.fail(answer.failure)
    // it has no description while it is being created: the mark can be checked once the lock is gone
    if (text(found.config, "lock") === "clone") return { task: undefined }
    return carriesMark(text(found.config, "description") ?? "", action.machine.mark) ? "done" : yield* Effect.fail(answer.failure)
  }),
  settle: Effect.fnUntraced(function* (context, action, outcome) {
    if (outcome?.type === "failed") {
      // this task may have failed because another call of ours created the VM
      const doing = doingOf(action)
      const found = yield* context.identity.locate(action.machine, doing)
      const making = found !== undefined && text(found.config, "lock") === "clone"
      if (!making && !carriesMark(text(found?.config ?? {}, "description") ?? "", action.machine.mark))
        return yield* taskFault(doing, outcome)
    }
    yield* settleByLooking(context, action, outcome)
  }),
}
