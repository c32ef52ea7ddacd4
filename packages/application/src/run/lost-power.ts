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

/** The fault of a step inside a machine that is off. */
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

/** Replaces the fault by `poweredOff` if the machine is off: tools report that in many different ways. */
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
  // an abort must not interrupt it: the next request would find a machine that is off but about to start
  const inFlight = Effect.flatMap(Effect.uninterruptible(started), (token) => hypervisor.settle(start, token))
  const woken = yield* Effect.result(insist(inFlight, "while-reached"))
  if (woken._tag === "Success") return wasOff ? yield* keepSettled({ key: start.kind, action: start }, noResult) : undefined
  const { facts } = woken.failure
  // the step waits for the hypervisor itself
  if (retryOf(woken.failure) === "wait") return
  return yield* (yield* isOff(machine))
    ? new HypervisorFault({
        ...facts,
        doing: `start VM ${vmid} (${mark.machine}) again`,
        detail: `it is powered off, and does not start: ${facts.detail}`,
        hint: facts.hint ?? "Start it in Proxmox to see why, then deploy again.",
      })
    : woken.failure
})

/** The range's router, if it is off and machines are reached over the network. */
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
 * Prepares the retry of a step inside a machine in a deploy: starts the machine and the range's router if they were turned off, and waits
 * until the machine's agent answers; it may be booting because a run that died had started it. No other request can turn off a machine of
 * the range during a deploy, so the user did not ask for it. Other runs start nothing: their machines may be off on purpose (ADR 90).
 */
export const bringBack = Effect.fnUntraced(function* ({ action }: Step, context: Pick<StepContext, "head" | "print">) {
  if (!isInside(action) || context.head.kind !== "deploy") return
  const router = yield* Effect.catchTag(routerThatIsOff(action.machine), "HypervisorFault", () => Effect.undefined)
  if (router !== undefined) yield* wake(router, context)
  yield* wake(action.machine, context)
})
