import {
  type Action,
  addressNumber,
  type Fault,
  type Json,
  type MachineRef,
  type NetworkSpec,
  parseCidr,
  type RangeId,
  type Step,
  type StepFacts,
  type UserId,
} from "@rangewright/domain"
import {
  GuestAutomation,
  type GuestTask,
  Hypervisor,
  HypervisorAccess,
  type HypervisorAccount,
  HypervisorFault,
  HypervisorNetwork,
  Users,
} from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { OfRun, WorkEffects } from "./work-effects.ts"

/** What a step's settlement brought, and what a tool printed meanwhile. */
export interface Settlement {
  readonly facts: StepFacts
  readonly output: string
}

/** The effect of any action in two parts, as the ports have it: `dispatch` starts it, `settle` waits for its end. */
export interface Effects {
  readonly dispatch: (step: Step) => Effect.Effect<Json, Fault>
  readonly settle: (step: Step, token: Json) => Effect.Effect<Settlement, Fault>
}

const nothingTold: Settlement = { facts: {}, output: "" }

/** Longest wait for an address: ten times what it should take, and never less than a slow Windows needs. */
const addressWithinSeconds = (estimate: number): number => Math.max(900, 10 * estimate)
const addressEverySeconds = (estimate: number): number => Math.min(10, Math.max(1, estimate / 8))

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

const guestTaskOf = (step: Step, action: Extract<Action, { readonly kind: "guest" }>, ofRun: OfRun): GuestTask => ({
  ...ofRun,
  machine: action.machine,
  name: step.machine ?? action.machine.mark.machine,
  os: action.os,
  stage: action.stage,
  input: action.input,
})

/** Binds the actions of a run to the ports, and those of its kind to the kind. */
export const makeEffects = (work: WorkEffects) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const networks = yield* HypervisorNetwork
    const access = yield* HypervisorAccess
    const guests = yield* GuestAutomation
    const users = yield* Users

    const grant = Effect.fnUntraced(function* (rangeId: RangeId, userIds: readonly UserId[], network: NetworkSpec) {
      const found = yield* Effect.forEach(userIds, (id) => users.find(id))
      const accounts = found.flatMap((user): HypervisorAccount[] =>
        user === undefined ? [] : [{ username: user.hypervisorUsername, realm: user.hypervisorRealm }],
      )
      yield* access.grant(rangeId, accounts, network)
    })

    const awaitAddress = Effect.fnUntraced(function* (step: Step, action: AwaitAddress) {
      const { node, vmid }: MachineRef = action.machine
      const limit = addressWithinSeconds(step.estimate)
      const end = (yield* Clock.currentTimeMillis) + limit * 1000
      for (;;) {
        const addresses = yield* hypervisor.addresses(node, vmid)
        const address = awaited(action, addresses)
        if (address !== undefined) return { facts: { address, addresses, changed: false }, output: "" }
        if ((yield* Clock.currentTimeMillis) >= end) {
          const wanted = action.expect ?? `an address in ${action.within}`
          const seen = addresses.length === 0 ? "no address" : addresses.join(", ")
          return yield* new HypervisorFault({
            doing: `wait for ${wanted} on VM ${vmid}`,
            reason: "failed",
            detail: `after ${limit} s its guest agent reports ${seen}`,
            hint: "Look at the machine's console; the guest agent must run in its template.",
          })
        }
        yield* Effect.sleep(addressEverySeconds(step.estimate) * 1000)
      }
    })

    const effects: Effects = {
      dispatch: (step) => {
        const { action } = step
        switch (action.kind) {
          case "create-pool":
            return Effect.as(access.ensurePool(action.poolId), null)
          case "remove-pool":
            return Effect.as(access.removePool(action.poolId), null)
          case "grant-access":
            return Effect.as(grant(action.rangeId, action.userIds, action.network), null)
          case "create-network":
          case "remove-network":
            return Effect.map(networks.dispatch(action), ({ token }) => token)
          case "await-address":
            return Effect.succeed(null)
          case "guest":
            return Effect.map(guests.dispatch(guestTaskOf(step, action, work.ofRun(step))), ({ token }) => token)
          case "clone":
          case "configure":
          case "start":
          case "stop":
          case "shutdown":
          case "delete":
            return Effect.map(hypervisor.dispatch(action), ({ token }) => token)
          case "work":
            return work.dispatch(step, action)
        }
      },
      settle: (step, token) => {
        const { action } = step
        switch (action.kind) {
          case "create-pool":
          case "remove-pool":
          case "grant-access":
            return Effect.succeed(nothingTold)
          case "create-network":
          case "remove-network":
            return Effect.as(networks.settle(action, token), nothingTold)
          case "await-address":
            return awaitAddress(step, action)
          case "guest":
            return guests.settle(guestTaskOf(step, action, work.ofRun(step)), token)
          case "clone":
          case "configure":
          case "start":
          case "stop":
          case "shutdown":
          case "delete":
            return Effect.as(hypervisor.settle(action, token), nothingTold)
          case "work":
            return Effect.map(work.settle(step, action, token), (facts) => ({ facts, output: "" }))
        }
      },
    }
    return effects
  })
