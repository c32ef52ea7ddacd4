import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { startedTask, taskFault } from "../tasks/settlement.ts"
import { taskName, type Upid } from "../tasks/upid.ts"
import type { AwaitTask } from "../tasks/watcher.ts"

type Started = Parameters<typeof startedTask>[0]

/** Longest wait for an apply: dozens of nodes, one after another. While it runs, nobody else's begins. */
const patienceMinutes = 15

/** Waits for the end of an apply; undefined: it has not ended in time. */
export const awaitApply = (awaitTask: AwaitTask, upid: Upid) =>
  Effect.map(Effect.timeoutOption(awaitTask(upid), `${patienceMinutes} minutes`), Option.getOrUndefined)

export const endlessApply = (doing: string, upid: Upid): HypervisorFault =>
  new HypervisorFault({
    doing,
    reason: "failed",
    detail: `its task ${taskName(upid)} has not ended within ${patienceMinutes} min`,
    hint: "Check its log on that node, stop it there if it hangs, then try again.",
  })

/** Starts an apply, waits for its end, and fails unless `isDone` then; `orElse` is the fault of one that ended without that effect. */
export const ownApply = Effect.fnUntraced(function* (
  awaitTask: AwaitTask,
  call: Effect.Effect<Started, HypervisorFault>,
  isDone: Effect.Effect<boolean, HypervisorFault>,
  { doing, ...orElse }: { readonly doing: string } & Pick<HypervisorFault["facts"], "reason" | "detail" | "hint">,
): Effect.fn.Return<void, HypervisorFault> {
  const upid = yield* startedTask(yield* call, doing)
  const outcome = yield* awaitApply(awaitTask, upid)
  if (outcome !== undefined && outcome.type !== "ok") return yield* taskFault(doing, outcome)
  if (yield* isDone) return
  if (outcome !== undefined) return yield* new HypervisorFault({ doing, ...orElse })
  return yield* endlessApply(doing, upid)
})
