import { carriesMark } from "@rangewright/domain"
import { HypervisorFault, type MachineAction } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { membersOf } from "../access/pools.ts"
import { path, type Params } from "../client/form.ts"
import { lookUntil, startedTask, taskFault } from "../tasks/settlement.ts"
import { type Fields, number, rows, text } from "../wire/read.ts"
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

/** The running clones of the template. A task does not tell which VM it makes. */
const runningClones = (context: MachineContext, { template }: CloneAction, doing: string) =>
  Effect.map(context.client.get("/cluster/tasks", {}, { doing }), ({ data }): readonly (string | undefined)[] =>
    rows(data).flatMap((row) =>
      text(row, "type") === "qmclone" && text(row, "id") === String(template.vmid) && text(row, "endtime") === undefined
        ? [text(row, "upid")]
        : [],
    ),
  )

/** How long a machine stays locked by a clone without a task before the clone counts as aborted. */
const staleSeconds = 60

const carries = (action: CloneAction, config: Fields): boolean =>
  carriesMark(text(config, "description") ?? "", action.machine.mark)

/** Whether the pool that the clone was to join has the VM. */
const isMember = (context: MachineContext, { machine, pool }: CloneAction, doing: string) =>
  Effect.map(membersOf(context.client, pool, doing), (members) => members.some((row) => number(row, "vmid") === machine.vmid))

/** A clone's last step puts the VM into its pool. */
const poolSeconds = 12

/**
 * Whether a VM with our mark, not made by a task of this step, is ours. Whoever may create a VM in some other pool can give it any number
 * and any mark, so the pool decides. A VM in no pool is ours too: its clone broke off right before it joined, and only administrators
 * create others.
 */
const isInPool = Effect.fnUntraced(function* (
  context: MachineContext,
  action: CloneAction,
  doing: string,
): Effect.fn.Return<boolean, HypervisorFault> {
  let isListed = false
  const elsewhere = Effect.map(context.client.get("/cluster/resources", { type: "vm" }, { doing }), (reply) => {
    const row = rows(reply.data).find((one) => number(one, "vmid") === action.machine.vmid)
    isListed = row !== undefined
    return row !== undefined && text(row, "pool") !== undefined && text(row, "pool") !== action.pool
  })
  const verdict = yield* lookUntil(
    () =>
      Effect.gen(function* () {
        if (yield* isMember(context, action, doing)) return "ours" as const
        return (yield* elsewhere) ? ("foreign" as const) : undefined
      }),
    { seconds: poolSeconds, fastest: 1, slowest: 3 },
  )
  if (verdict !== undefined || isListed) return verdict !== "foreign"
  return yield* new HypervisorFault({
    doing,
    reason: "unknown-effect",
    detail: `VM ${action.machine.vmid} is not in the pool ${action.pool}, and the cluster does not list where it is`,
  })
})

/** Waits until the VM is no longer being created, then checks whose it is. */
const settleByLooking: MachineKind<CloneAction>["settle"] = Effect.fnUntraced(function* (context, action, outcome) {
  const doing = doingOf(action)
  const fault = (reason: "taken" | "unknown-effect" | "failed", detail: string, hint?: string) =>
    new HypervisorFault({ doing, reason, detail, ...(hint === undefined ? {} : { hint }) })
  /** Those that may hold the lock: it was there before any that began later. */
  let suspects: readonly (string | undefined)[] | undefined
  const verdict = yield* lookUntil(
    (waited) =>
      Effect.gen(function* () {
        const found = yield* context.identity.locate(action.machine, doing)
        if (found === undefined) return yield* fault("unknown-effect", `VM ${action.machine.vmid} does not exist`)
        // a backup, a migration or a snapshot may have locked it since
        if (text(found.config, "lock") !== "clone")
          return carries(action, found.config) ? ("marked" as const) : ("foreign" as const)
        // a clone whose task was lost may still be running
        if (waited < staleSeconds) return undefined
        const running = yield* runningClones(context, action, doing)
        suspects = (suspects ?? running).filter((one) => running.includes(one))
        return suspects.length > 0 ? undefined : ("stale" as const)
      }),
    { seconds: context.options.cloneSeconds, fastest: 1, slowest: 10 },
  )
  if (verdict === "marked" && (outcome?.type === "ok" || (yield* isInPool(context, action, doing)))) return
  if (verdict === "foreign" || verdict === "marked")
    return yield* fault("taken", `VM ${action.machine.vmid} exists already and is not ours`)
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
    if (!carries(action, found.config)) return yield* Effect.fail(answer.failure)
    return (yield* isMember(context, action, doing)) ? "done" : { task: undefined }
  }),
  settle: Effect.fnUntraced(function* (context, action, outcome) {
    if (outcome?.type === "failed") {
      // this task may have failed because another call of ours created the VM
      const doing = doingOf(action)
      const found = yield* context.identity.locate(action.machine, doing)
      const making = found !== undefined && text(found.config, "lock") === "clone"
      if (!making && !carries(action, found?.config ?? {})) return yield* taskFault(doing, outcome)
    }
    yield* settleByLooking(context, action, outcome)
  }),
}
