import {
  type Action,
  addressNumber,
  Conflict,
  type Fault,
  type Json,
  type MachineRef,
  type ObservedCluster,
  parseCidr,
  type Step,
} from "@rangewright/domain"
import {
  type AccessRecords,
  GuestAutomation,
  type GuestTask,
  Hypervisor,
  HypervisorAccess,
  HypervisorFault,
  HypervisorNetwork,
  Machines,
  monotonicMillis,
  Ranges,
  SecretStore,
} from "@rangewright/ports"
import { type Settlement, type StepActions, type StepContext, retryStorage } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { judgeLicence } from "../kms/judge-licence.ts"
import { withLicenseKey } from "../kms/license-key.ts"
import { Settings } from "../settings.ts"
import { keepSettled, noteBefore } from "./keep.ts"
import { bringBack, isOff, poweredOff, tellingPower } from "./lost-power.ts"
import { restoreRequest } from "./request.ts"
import { afterRollBack, setBack, untilItStarts } from "./set-back.ts"
import { startAgain } from "./start-again.ts"

/** Longest wait for an address: ten times the estimate, and never less than a slow Windows needs. */
const addressWithinSeconds = (estimate: number): number => Math.max(900, 10 * estimate)
const addressEverySeconds = (estimate: number): number => Math.min(10, Math.max(1, estimate / 8))

/** A machine without an address is nearly always on, so its power is only read occasionally. */
const powerEveryMillis = 60_000

type AwaitAddress = Extract<Action, { readonly kind: "await-address" }>

/** The reported address that the action waits for. `within` is a network (`10.7.0.0/16`). */
const awaited = (action: AwaitAddress, reported: readonly string[]): string | undefined => {
  if (action.expect !== undefined) return reported.find((address) => address === action.expect)
  const network = parseCidr(action.within)
  return reported.find((address) => {
    const number = addressNumber(address)
    return number !== undefined && network !== undefined && number >= network.first && number <= network.last
  })
}

const noResult: Settlement = { facts: {}, output: "" }
const told = (warnings: readonly string[]): Settlement => (warnings.length === 0 ? noResult : { facts: { warnings }, output: "" })

/** The task of a stage in a machine, with the context of its run: the user, the options, and where output goes while its tool works. */
const guestTaskOf = Effect.fnUntraced(function* (
  step: Step,
  action: Extract<Action, { readonly kind: "guest" }>,
  context: StepContext,
): Effect.fn.Return<GuestTask, Fault, SecretStore | Settings> {
  const { head } = context
  const request = restoreRequest(head.options)
  const { verbose, onlyRoles } = request?.kind === "deploy" ? request.options : { verbose: false, onlyRoles: [] }
  return {
    verbose,
    onlyRoles,
    by: head.by,
    run: { id: head.id, steps: context.keys() },
    cancelled: context.cancelled,
    // output that cannot be stored is no reason to stop the tool: the next write fails too, and reports it
    output: (text) => Effect.ignore(context.print(text)),
    machine: action.machine,
    name: step.machine ?? action.machine.mark.machine,
    os: action.os,
    stage: action.stage,
    input: yield* withLicenseKey(action),
  }
})

const awaitAddress = Effect.fnUntraced(function* (step: Step, action: AwaitAddress) {
  const hypervisor = yield* Hypervisor
  const { node, vmid, mark }: MachineRef = action.machine
  const limit = addressWithinSeconds(step.estimate)
  let now = yield* monotonicMillis
  const end = now + limit * 1000
  let lookAt = now + powerEveryMillis
  for (;;) {
    const addresses = yield* hypervisor.addresses(node, vmid)
    const address = awaited(action, addresses)
    if (address !== undefined) return { facts: { address, addresses, changed: false }, output: "" }
    now = yield* monotonicMillis
    if (now >= lookAt && addresses.length === 0) {
      lookAt = now + powerEveryMillis
      if (yield* isOff(action.machine)) return yield* poweredOff({ doing: "wait for an address", machine: mark.machine })
    }
    if (now >= end) {
      const wanted = action.expect ?? `an address in ${action.within}`
      const seen = addresses.length === 0 ? "no address" : addresses.join(", ")
      return yield* new HypervisorFault({
        doing: `wait for ${wanted} on VM ${vmid}`,
        reason: "failed",
        detail: `after ${limit} s its guest agent reports ${seen}`,
        hint: "Check the machine's console; the guest agent must run in its template.",
      })
    }
    yield* Effect.sleep(addressEverySeconds(step.estimate) * 1000)
  }
})

type Services =
  | AccessRecords
  | GuestAutomation
  | Hypervisor
  | HypervisorAccess
  | HypervisorNetwork
  | Machines
  | Ranges
  | SecretStore
  | Settings

const unknownAction = ({ title }: Step): Conflict =>
  new Conflict({ what: `Cannot do "${title}": this version of the service does not know this step of a range's run` })

const start = (step: Step, context: StepContext): Effect.Effect<Json, Fault, Services> => {
  const { action } = step
  switch (action.kind) {
    case "create-pool":
      return HypervisorAccess.use((access) => Effect.as(access.ensurePool(action.poolId), null))
    case "remove-pool":
      return HypervisorAccess.use((access) => Effect.as(access.removePool(action.poolId), null))
    case "grant-access":
    // from a plan of an older version: rights have their own runs now
    case "await-address":
      return Effect.succeed(null)
    case "create-network":
    case "remove-network":
      return HypervisorNetwork.use((networks) => Effect.map(networks.dispatch(action), ({ token }) => token))
    case "guest":
      return GuestAutomation.use((guests) =>
        Effect.flatMap(guestTaskOf(step, action, context), (task) => Effect.map(guests.dispatch(task), ({ token }) => token)),
      )
    case "clone":
    case "configure":
    case "start":
    case "stop":
    case "shutdown":
    case "delete":
    case "take-snapshot":
    case "roll-back":
    case "remove-snapshot":
      return Hypervisor.use((hypervisor) => Effect.map(hypervisor.dispatch(action), ({ token }) => token))
    case "record-testing":
    case "record-disguises":
      return Effect.succeed(null)
    case "refuse":
      return Effect.fail(new Conflict({ what: action.because }))
    case "work":
      return Effect.fail(unknownAction(step))
  }
}

const end = (step: Step, token: Json, context: StepContext): Effect.Effect<Settlement, Fault, Services> => {
  const { action } = step
  switch (action.kind) {
    case "create-pool":
    case "remove-pool":
    case "grant-access":
      return Effect.succeed(noResult)
    case "create-network":
    case "remove-network":
      return HypervisorNetwork.use((networks) => Effect.as(networks.settle(action, token), noResult))
    case "await-address":
      return awaitAddress(step, action)
    case "guest":
      return GuestAutomation.use((guests) =>
        Effect.flatMap(guestTaskOf(step, action, context), (task) => guests.settle(task, token)),
      ).pipe(Effect.tap(({ facts }) => judgeLicence(action, facts)))
    case "clone":
    case "configure":
    case "start":
    case "stop":
    case "shutdown":
    case "delete":
    case "take-snapshot":
    case "roll-back":
    case "remove-snapshot":
      return Hypervisor.use((hypervisor) => Effect.map(hypervisor.settle(action, token), told))
    case "record-testing":
      return Ranges.use((ranges) => Effect.as(ranges.change(action.rangeId, { testing: action.testing }), noResult))
    case "record-disguises":
      return Ranges.use((ranges) => Effect.as(ranges.change(action.rangeId, { disguises: action.disguises }), noResult))
    case "refuse":
      return Effect.succeed(noResult)
    case "work":
      return Effect.fail(unknownAction(step))
  }
}

/**
 * Settles the action of a step, and stores what it changed. A machine that was rolled back gets its settings back, even when an abort was
 * requested meanwhile.
 */
const endAndKeep = Effect.fnUntraced(function* (step: Step, token: Json, context: StepContext) {
  const machines = yield* Machines
  const settlement = yield* end(step, token, context)
  yield* retryStorage(keepSettled(step, settlement))
  const { action } = step
  const configure = action.kind === "roll-back" ? afterRollBack(action) : undefined
  if (action.kind !== "roll-back" || configure === undefined) return settlement
  yield* setBack(action, configure)
  yield* retryStorage(keepSettled({ ...step, action: configure }, settlement))
  const isRunning = (yield* retryStorage(machines.find(action.machine.vmid)))?.power === "running"
  const warnings = [...(settlement.facts.warnings ?? []), ...(isRunning ? yield* untilItStarts(action, configure) : [])]
  return warnings.length === 0 ? settlement : { ...settlement, facts: { ...settlement.facts, warnings } }
})

/**
 * Whether the nodes that a step needs are online: that of the machine, wherever it is now, of a new machine's template, and of a bridge.
 */
const isReachable = ({ action }: Step, { machines, nodes }: ObservedCluster): boolean => {
  const isOnline = (node: string) => nodes.some(({ name, online }) => name === node && online)
  if (action.kind === "clone") return isOnline(action.machine.node) && isOnline(action.template.node)
  if ("machine" in action) return isOnline(machines.find(({ vmid }) => vmid === action.machine.vmid)?.node ?? action.machine.node)
  return !("network" in action) || action.network.type !== "bridge" || isOnline(action.network.node)
}

/** Another, free VMID for the machine of a clone step. */
const reallocate = ({ action }: Step, cluster: ObservedCluster) =>
  Effect.gen(function* () {
    if (action.kind !== "clone") return undefined
    const stored = yield* Machines
    const { vmidSpan } = yield* Settings
    const { vmid: from, mark } = action.machine
    const taken = new Set<number>([from, ...cluster.machines.map(({ vmid }) => vmid)])
    // a worker that died may already have made the new reservation
    const reserved = (yield* stored.reservations(mark.range)).get(mark.machine)
    const to =
      reserved !== undefined && !taken.has(reserved)
        ? reserved
        : yield* stored.replaceReservation(mark.range, mark.machine, taken, vmidSpan)
    return { machine: mark.machine, from, to }
  })

/** Binds the actions of a range's plan to the ports, and stores what they changed. */
export const rangeActions: StepActions<Services> = {
  dispatch: (step, context) => Effect.andThen(noteBefore(step), start(step, context)).pipe(tellingPower(step)),
  settle: (step, token, context) => endAndKeep(step, token, context).pipe(tellingPower(step)),
  beforeRetry: bringBack,
  afterFailure: ({ action }, fault) => (action.kind === "roll-back" ? startAgain(action, fault) : Effect.succeed(fault)),
  isReachable,
  reallocate,
}
