import type { Action, Fault } from "@rangewright/domain"
import { type AccessRecords, Hypervisor, HypervisorFault, type Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { insist } from "./insist.ts"
import { keepSettled } from "./keep.ts"
import { afterRollBack, setBack } from "./set-back.ts"

type RollBack = Extract<Action, { readonly kind: "roll-back" }>

const withHint = (fault: HypervisorFault, more: string): HypervisorFault =>
  new HypervisorFault({ ...fault.facts, hint: fault.facts.hint === undefined ? more : `${fault.facts.hint} ${more}` })

const told = (text: string): string => (/[.!?]$/u.test(text) ? text : `${text}.`)

const keep = (action: Action) => keepSettled({ key: action.kind, action }, { facts: {}, output: "" })

/** Restores the machine's settings, however its rollback ended, and starts it. */
const started = Effect.fnUntraced(function* (action: RollBack, isBack: boolean) {
  const hypervisor = yield* Hypervisor
  const configure = afterRollBack(action)
  // the work done inside it since the snapshot is gone
  if (isBack) yield* keep(action)
  if (configure !== undefined) {
    yield* setBack(action, configure)
    yield* keep(configure)
  }
  const start = { kind: "start", machine: action.machine, untilAgent: false } as const
  yield* insist(
    Effect.flatMap(hypervisor.dispatch(start), ({ token }) => hypervisor.settle(start, token)),
    "while-reached",
  )
  yield* keep(start)
})

/**
 * A rollback stops its machine first. A machine that was on, and whose rollback failed, is started again, unless the hypervisor still holds
 * its lock: its disks may then be from two points in time. Returns the fault with the state of the machine.
 */
export const startAgain = Effect.fnUntraced(function* (
  action: RollBack,
  fault: Fault,
): Effect.fn.Return<Fault, Fault, AccessRecords | Hypervisor | Machines> {
  if (action.wasOn !== true || !(fault instanceof HypervisorFault)) return fault
  const { node, vmid } = action.machine
  const hypervisor = yield* Hypervisor
  const look = Effect.all([hypervisor.snapshots(node, vmid), hypervisor.detail(node, vmid)])
  const seen = yield* Effect.orElseSucceed(insist(look, "while-reached"), () => undefined)
  if (seen === undefined) return withHint(fault, "Whether it runs cannot be read now: power it on if it is off.")
  const [{ running, current }, { lock, generation }] = seen
  if (running === true) return withHint(fault, "It still runs.")
  if (lock !== undefined)
    return withHint(
      fault,
      `It is off and locked (${lock}), so it is not started: some of its disks may be rolled back, others not.`,
    )
  const isBack = current === action.snapshot && generation !== undefined && generation !== action.generation
  return yield* started(action, isBack).pipe(
    Effect.as(
      withHint(
        fault,
        isBack ? "It is rolled back all the same, and was started again." : "It was started again, as it was before.",
      ),
    ),
    Effect.catchTag("HypervisorFault", (problem) =>
      Effect.succeed(
        problem.facts.doing === fault.facts.doing
          ? fault
          : withHint(fault, [problem.message, problem.facts.hint ?? "It is off: power it on"].map(told).join(" ")),
      ),
    ),
  )
})
