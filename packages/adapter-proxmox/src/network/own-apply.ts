import { HypervisorFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { startedTask, taskFault } from "../tasks/settlement.ts"
import { taskName } from "../tasks/upid.ts"
import type { AwaitTask } from "../tasks/watcher.ts"

type Started = Parameters<typeof startedTask>[0]

/** Longest wait for an apply: dozens of nodes, one after another. While it runs, nobody else's begins. */
const patienceMinutes = 15

/** Starts an apply, waits for its end, and fails unless `isDone` then; `orElse` is the fault of one that ended without that effect. */
export const ownApply = Effect.fnUntraced(function* (
  awaitTask: AwaitTask,
  call: Effect.Effect<Started, HypervisorFault>,
  isDone: Effect.Effect<boolean, HypervisorFault>,
  { doing, ...orElse }: { readonly doing: string } & Pick<HypervisorFault["facts"], "reason" | "detail" | "hint">,
): Effect.fn.Return<void, HypervisorFault> {
  const upid = yield* startedTask(yield* call, doing)
  const outcome = Option.getOrUndefined(yield* Effect.timeoutOption(awaitTask(upid), `${patienceMinutes} minutes`))
  if (outcome !== undefined && outcome.type !== "ok") return yield* taskFault(doing, outcome)
  if (yield* isDone) return
  if (outcome !== undefined) return yield* new HypervisorFault({ doing, ...orElse })
  return yield* new HypervisorFault({
    doing,
    reason: "failed",
    detail: `its task ${taskName(upid)} has not ended within ${patienceMinutes} min`,
    hint: "Check its log on that node, stop it there if it hangs, then deploy again.",
  })
})
