import { HypervisorFault, monotonicMillis } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { classifyTask } from "../client/classify.ts"
import type { Reply } from "../client/reply.ts"
import type { TaskOutcome } from "./outcome.ts"
import { parseUpid, type Upid } from "./upid.ts"

/** The task started by an accepted call. An answer without one may still have had the effect. */
export const startedTask = (reply: Reply, doing: string): Effect.Effect<Upid, HypervisorFault> => {
  const upid = parseUpid(reply.data)
  if (upid !== undefined) return Effect.succeed(upid)
  return Effect.fail(new HypervisorFault({ doing, reason: "unknown-effect", detail: "the answer names no task" }))
}

/** The fault of a task that did not reach its goal, classified by its exit status. */
export const taskFault = (doing: string, outcome: Exclude<TaskOutcome, { readonly type: "ok" }>): HypervisorFault => {
  if (outcome.type === "vanished")
    return new HypervisorFault({
      doing,
      reason: "unknown-effect",
      detail: `the result of its task is not known (${outcome.detail})`,
    })
  const { verdict, hint } = classifyTask(outcome.detail)
  return new HypervisorFault({
    doing,
    reason: verdict === "silent-guest" || verdict === "guest-off" ? "failed" : verdict,
    detail: outcome.detail,
    ...(hint === undefined ? {} : { hint }),
  })
}

export interface Patience {
  readonly seconds: number
  /** Shortest and longest pause; in between a sixteenth of the time waited. */
  readonly fastest: number
  readonly slowest: number
}

/** Polls until `look` returns something; undefined when the time is up first. */
export const lookUntil = Effect.fnUntraced(function* <A, E>(
  look: (waitedSeconds: number) => Effect.Effect<A | undefined, E>,
  patience: Patience,
): Effect.fn.Return<A | undefined, E> {
  const start = yield* monotonicMillis
  for (;;) {
    const waited = ((yield* monotonicMillis) - start) / 1000
    const found = yield* look(waited)
    if (found !== undefined || waited >= patience.seconds) return found
    const pause = Math.min(patience.slowest, Math.max(patience.fastest, waited / 16))
    yield* Effect.sleep(Math.round(Math.min(pause, Math.max(0.05, patience.seconds - waited)) * 1000))
  }
})
