import type { MachineRef, PowerState } from "@rangewright/domain"
import { HypervisorFault, type MachineAction, monotonicMillis } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { path, type Params } from "../client/form.ts"
import type { TaskOutcome } from "../tasks/outcome.ts"
import { lookUntil, startedTask, taskFault } from "../tasks/settlement.ts"
import { livePowerOf } from "../wire/cluster.ts"
import { recordOf, text } from "../wire/read.ts"
import { awaitAgent } from "./agent.ts"
import type { Located } from "./identity.ts"
import type { MachineKind, MachineContext } from "./machine-kind.ts"
import { bringNetworks } from "./missing-networks.ts"

type Power = Extract<MachineAction, { readonly kind: "start" | "stop" | "shutdown" }>
type Action<K extends Power["kind"]> = Extract<Power, { readonly kind: K }>

const doingOf = (action: Power): string =>
  `${action.kind === "shutdown" ? "shut down" : action.kind} VM ${action.machine.vmid} (${action.machine.mark.machine})`

interface Live extends Located {
  readonly power: PowerState
}

/**
 * Where the VM is and its live state: `status/current` shows at once what the cluster's list shows seconds later. It includes the name, so
 * a different VM that took the id since the last verification is noticed and verified anew.
 */
const liveState = Effect.fnUntraced(function* (
  context: MachineContext,
  ref: MachineRef,
  doing: string,
): Effect.fn.Return<Live, HypervisorFault> {
  const { located, data } = yield* context.identity
    .at(ref, doing, (found) =>
      Effect.map(context.client.get(path`/nodes/${found.node}/qemu/${ref.vmid}/status/current`, {}, { doing }), (reply) => ({
        located: found,
        data: recordOf(reply.data),
      })),
    )
    .pipe(Effect.tapError(() => Effect.sync(() => context.identity.forget(ref.vmid))))
  if (text(data, "name") !== located.name) yield* context.identity.verify(ref, doing)
  return { ...located, power: livePowerOf(data) }
})

const call = Effect.fnUntraced(function* (context: MachineContext, action: Power, node: string, verb: string, params: Params) {
  const doing = doingOf(action)
  const reply = yield* context.client.post(path`/nodes/${node}/qemu/${action.machine.vmid}/status/${verb}`, params, { doing })
  return { task: yield* startedTask(reply, doing) }
})

/** With high availability the call's task ends before the state changes, and a lost task may still be running. */
const followSeconds = 60

/** The wanted state is the proof, whatever the task said: "already running" is a success as well. */
const settleAt = Effect.fnUntraced(function* (
  context: MachineContext,
  action: Power,
  outcome: TaskOutcome | undefined,
  wanted: PowerState,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = doingOf(action)
  let seenOn = ""
  const reached = yield* lookUntil(
    () =>
      Effect.map(liveState(context, action.machine, doing), ({ node, power }) => {
        seenOn = node
        return power === wanted ? power : undefined
      }),
    { seconds: outcome?.type === "failed" ? 0 : followSeconds, fastest: 1, slowest: 5 },
  )
  if (reached !== undefined) return
  if (outcome !== undefined && outcome.type !== "ok") {
    const fault = taskFault(doing, outcome)
    if (fault.facts.reason !== "not-found") return yield* fault
    // the VM exists, but not where the task looked for it
    const detail = `it had moved to node ${seenOn} when its task began (${outcome.detail})`
    return yield* new HypervisorFault({ doing, reason: "unknown-effect", detail })
  }
  return yield* new HypervisorFault({
    doing,
    reason: "failed",
    detail: `the VM is not ${wanted} ${followSeconds} s after its task ended`,
  })
})

/** A VM does not start on a node that lacks one of its networks. When that could be fixed, the start is to be retried. */
const settleRunning = Effect.fnUntraced(function* (
  context: MachineContext,
  action: Action<"start">,
  outcome: TaskOutcome | undefined,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = doingOf(action)
  const settled = yield* Effect.result(settleAt(context, action, outcome, "running"))
  if (settled._tag === "Success") return
  if (settled.failure.facts.reason !== "failed") return yield* settled.failure
  const brought = yield* bringNetworks(context, action.machine, doing)
  if (brought.length === 0) return yield* settled.failure
  const detail = `its node lacked ${brought.join(", ")}, which has arrived now (${settled.failure.facts.detail})`
  return yield* new HypervisorFault({ doing, reason: "unknown-effect", detail })
})

export const start: MachineKind<Action<"start">> = {
  dispatch: Effect.fnUntraced(function* (context, action) {
    const live = yield* liveState(context, action.machine, doingOf(action))
    if (live.power === "running") return action.untilAgent ? { task: undefined } : "done"
    if (action.untilAgent) context.startedAt.set(action.machine.vmid, yield* monotonicMillis)
    else context.startedAt.delete(action.machine.vmid)
    return yield* call(context, action, live.node, live.power === "paused" ? "resume" : "start", {})
  }),
  settle: Effect.fnUntraced(function* (context, action, outcome) {
    // an answering agent proves more than the power state does
    if (!action.untilAgent || outcome?.type !== "ok") yield* settleRunning(context, action, outcome)
    if (!action.untilAgent) return
    const ref = action.machine
    const { osType } = yield* context.identity.expect(ref, doingOf(action))
    const { agentSeconds } = context.options
    const now = yield* monotonicMillis
    const at = context.startedAt.get(ref.vmid)
    // nobody waited for a boot that began that long ago, and it is over
    const known = at !== undefined && now - at < agentSeconds * 1000 ? at : undefined
    yield* awaitAgent(context, {
      ref,
      // a boot whose start was not seen teaches the others nothing
      kind: known === undefined ? `VM ${ref.vmid}` : osType,
      startedAt: known ?? now,
      seconds: agentSeconds,
    }).pipe(
      // time in which the guest could not be queried does not count: the next wait starts over
      Effect.ensuring(Effect.sync(() => context.startedAt.delete(ref.vmid))),
    )
  }),
}

export const stop: MachineKind<Action<"stop">> = {
  dispatch: Effect.fnUntraced(function* (context, action) {
    const live = yield* liveState(context, action.machine, doingOf(action))
    return live.power === "stopped" ? "done" : yield* call(context, action, live.node, "stop", {})
  }),
  settle: (context, action, outcome) => settleAt(context, action, outcome, "stopped"),
}

/** Asks the guest to shut down; one that does not within the time stays on, and the action fails. */
export const shutdown: MachineKind<Action<"shutdown">> = {
  dispatch: Effect.fnUntraced(function* (context, action) {
    const live = yield* liveState(context, action.machine, doingOf(action))
    if (live.power === "stopped") return "done"
    return yield* call(context, action, live.node, "shutdown", { timeout: Math.max(1, Math.round(action.timeoutSeconds)) })
  }),
  settle: (context, action, outcome) => settleAt(context, action, outcome, "stopped"),
}
