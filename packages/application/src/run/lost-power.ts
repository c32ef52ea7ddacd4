import { type Action, type Fault, type Json, type MachineRef, readDescription, stageKey, type Step } from "@rangewright/domain"
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
    hint: "Check in Proxmox what turned it off: the VM's task log, and the memory of its node. Then deploy again.",
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

/** Longest wait for the agent of a machine that is on: it may be booting because a run that died had started it. */
const brieflySeconds = 120

/** Whether the range's deploys wait for the machine's agent: in an unmanaged machine, they run only roles. */
const isManaged = Effect.fnUntraced(function* (
  { machine: { vmid, mark }, ...action }: Inside,
  { keys }: Pick<StepContext, "keys">,
) {
  if (action.kind !== "guest" || action.stage !== "role") return true
  const machines = yield* Machines
  const done = (yield* machines.stages(mark.range)).get(vmid)
  return (["address", "router"] as const).some((stage) => {
    const key = stageKey(stage, mark.machine)
    return keys().has(key) || done?.has(key) === true
  })
})

/** Starts a machine that is off. `untilAgent`: waits for its agent, but briefly if the machine was on. Fails only if it stays off. */
const wake = Effect.fnUntraced(function* (machine: MachineRef, untilAgent: boolean, { print }: Pick<StepContext, "print">) {
  const hypervisor = yield* Hypervisor
  const { vmid, mark } = machine
  const wasOff = yield* isOff(machine)
  if (!wasOff && !untilAgent) return
  if (wasOff) yield* print(`VM ${vmid} (${mark.machine}) is powered off; starting it again\n`)
  const start = { kind: "start", machine, untilAgent } as const
  const started = Effect.gen(function* () {
    const { token } = yield* hypervisor.dispatch(start)
    yield* hypervisor.settle({ ...start, untilAgent: false }, token)
    return token
  })
  // the step's retry tells more about a machine that is on than a silent agent does
  const booted = (token: Json) =>
    hypervisor
      .settle(start, token)
      .pipe(Effect.catch((fault) => Effect.flatMap(isOff(machine), (off) => (off ? Effect.fail(fault) : Effect.void))))
  // an abort must not interrupt it: the next request would find a machine that is off but about to start
  const inFlight = Effect.flatMap(Effect.uninterruptible(started), (token) => (untilAgent ? booted(token) : Effect.void))
  const insisting = Effect.asVoid(insist(inFlight, "while-reached"))
  const briefly = Effect.asVoid(Effect.timeoutOption(insisting, `${brieflySeconds} seconds`))
  const woken = yield* Effect.result(wasOff ? insisting : briefly)
  if (woken._tag === "Success") return wasOff ? yield* keepSettled({ key: start.kind, action: start }, noResult) : undefined
  const { facts } = woken.failure
  // the step waits for the hypervisor itself
  if (retryOf(woken.failure) === "wait" || !(yield* isOff(machine))) return
  return yield* new HypervisorFault({
    ...facts,
    doing: `start VM ${vmid} (${mark.machine}) again`,
    detail: `it is powered off and does not start: ${facts.detail}`,
    hint: facts.hint ?? "Start it in Proxmox to see why, then deploy again.",
  })
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
 * until the machine is ready. No other request can turn off a machine of the range during a deploy, so the user did not ask for it. Other
 * runs start nothing: their machines may be off on purpose (ADR 90).
 */
export const bringBack = Effect.fnUntraced(function* ({ action }: Step, context: Pick<StepContext, "head" | "keys" | "print">) {
  if (!isInside(action) || context.head.kind !== "deploy") return
  const router = yield* Effect.catchTag(routerThatIsOff(action.machine), "HypervisorFault", () => Effect.undefined)
  if (router !== undefined) yield* wake(router, true, context)
  yield* wake(action.machine, yield* isManaged(action, context), context)
})
