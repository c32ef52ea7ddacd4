import { type Action, type Fault, type MachineRef, readDescription, type Step } from "@rangewright/domain"
import { GuestAutomation, GuestFault, Hypervisor, HypervisorFault, Machines, retryOf } from "@rangewright/ports"
import type { StepContext } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { insist } from "./insist.ts"
import { keepSettled } from "./keep.ts"

type Inside = Extract<Action, { readonly kind: "await-address" | "guest" }>

/** Whether the action needs its machine to be on. */
const isInside = (action: Action): action is Inside => action.kind === "guest" || action.kind === "await-address"

/** Whether the VM is certainly off, read live. */
export const isOff = ({ vmid, node }: Pick<MachineRef, "node" | "vmid">): Effect.Effect<boolean, never, Hypervisor> =>
  Hypervisor.use((hypervisor) =>
    Effect.map(hypervisor.seek(vmid, node), (found) => found.type === "there" && found.power === "stopped"),
  )

/** Says that a machine is off, which every step inside it needs to be on. */
export const poweredOff = (facts: { readonly doing: string; readonly machine: string }): GuestFault =>
  new GuestFault({
    ...facts,
    reason: "away",
    detail: "it is powered off",
    hint: "Find out in Proxmox what turned it off (the tasks of the VM, the memory of its node), then deploy again.",
  })

const orPoweredOff = Effect.fnUntraced(function* ({ action }: Step, fault: Fault) {
  if (!isInside(action) || !(fault instanceof GuestFault) || fault.facts.reason === "unsupported") return fault
  return (yield* isOff(action.machine)) ? poweredOff(fault.facts) : fault
})

/** Fails with the better reason: a step inside a machine fails in many ways when the machine is off. */
export const tellingPower =
  (step: Step) =>
  <A, R>(effect: Effect.Effect<A, Fault, R>): Effect.Effect<A, Fault, Hypervisor | R> =>
    effect.pipe(Effect.catch((fault) => Effect.flatMap(orPoweredOff(step, fault), Effect.fail)))

const noResult = { facts: {}, output: "" }

/** Starts a machine if it is off, and waits until its agent answers. */
const wake = Effect.fnUntraced(function* (machine: MachineRef, { print }: Pick<StepContext, "print">) {
  const hypervisor = yield* Hypervisor
  const { vmid, mark } = machine
  const wasOff = yield* isOff(machine)
  if (wasOff) yield* print(`VM ${vmid} (${mark.machine}) is powered off: it is started again\n`)
  const start = { kind: "start", machine, untilAgent: true } as const
  const started = Effect.gen(function* () {
    const { token } = yield* hypervisor.dispatch(start)
    yield* hypervisor.settle({ ...start, untilAgent: false }, token)
    return token
  })
  // an abort lets a start in flight settle: the next request must find the machine on, not off and about to start
  const inFlight = Effect.flatMap(Effect.uninterruptible(started), (token) => hypervisor.settle(start, token))
  const woken = yield* Effect.result(insist(inFlight, "while-reached"))
  if (woken._tag === "Success") return wasOff ? yield* keepSettled({ key: start.kind, action: start }, noResult) : undefined
  const { facts } = woken.failure
  // the step waits for the hypervisor itself
  if (retryOf(woken.failure) === "wait") return
  return yield* wasOff
    ? new HypervisorFault({
        ...facts,
        doing: `start VM ${vmid} (${mark.machine}) again`,
        detail: `it is powered off, and does not start: ${facts.detail}`,
        hint: facts.hint ?? "Start it in Proxmox to see why, then deploy again.",
      })
    : woken.failure
})

/** The router of the machine's range if it is off, and machines are reached through it. */
const routerThatIsOff = Effect.fnUntraced(function* ({ vmid, mark }: MachineRef) {
  const { overNetwork } = yield* GuestAutomation
  const hypervisor = yield* Hypervisor
  const machines = yield* Machines
  if (overNetwork !== true) return undefined
  const router = (yield* machines.ofRange(mark.range)).find((one) => one.isRouter && one.vmid !== vmid)
  if (router === undefined || !(yield* isOff(router))) return undefined
  const { node, description } = yield* hypervisor.detail(router.node, router.vmid)
  const own = readDescription(description).mark
  return own?.range === mark.range ? { vmid: router.vmid, node, mark: own } : undefined
})

/**
 * Brings back what a step inside a machine needs when a deploy tries it again: the machine, and its range's router, are started if they
 * were turned off meanwhile. While a deploy goes on, no other request can turn a machine of its range off, so it was not the user's wish.
 * Other runs start nothing: their machines may be off for a reason. A machine that boots is waited for: a run that died may have begun its start.
 */
export const bringBack = Effect.fnUntraced(function* ({ action }: Step, context: Pick<StepContext, "head" | "print">) {
  if (!isInside(action) || context.head.kind !== "deploy") return
  const router = yield* Effect.catchTag(routerThatIsOff(action.machine), "HypervisorFault", () => Effect.undefined)
  if (router !== undefined) yield* wake(router, context)
  yield* wake(action.machine, context)
})
