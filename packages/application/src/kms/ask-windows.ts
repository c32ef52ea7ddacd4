import {
  Conflict,
  Failed,
  type Fault,
  type Json,
  type MachineMark,
  readWindowsReport,
  type StepFacts,
  type WindowsReport,
} from "@rangewright/domain"
import { GuestAutomation, type RangeMachine } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { inTurn } from "./ask-in-turn.ts"

/** Most milliseconds that a machine may take to answer, once it is its turn. */
const patienceMillis = 120_000

/** The report that an activation stage printed; undefined when there is none that can be parsed. */
export const reportOf = ({ data }: StepFacts): WindowsReport | undefined => {
  const report: Json | undefined =
    typeof data === "object" && data !== null && "report" in data ? (data as { readonly report?: Json }).report : undefined
  return typeof report === "string" ? readWindowsReport(report) : undefined
}

/** Asks a machine for its edition and its licence. Changes nothing. `doing` completes "Cannot …". */
export const askWindows = Effect.fnUntraced(function* (
  doing: string,
  { vmid, node, rangeId, name = "" }: RangeMachine,
): Effect.fn.Return<WindowsReport, Fault, GuestAutomation> {
  const guests = yield* GuestAutomation
  const mark: MachineMark = { range: rangeId, machine: name }
  const machine = { vmid, node, mark }
  const task = { machine, name, os: "windows", stage: "inspect-windows", input: {}, verbose: false } as const
  const asked = Effect.flatMap(guests.dispatch(task), ({ token }) => guests.settle(task, token))
  const answer = yield* inTurn(Effect.timeoutOption(asked, patienceMillis))
  if (answer._tag === "None")
    return yield* new Failed({ what: `Cannot ${doing}: ${name} did not answer within ${patienceMillis / 1000} s` })
  return (
    reportOf(answer.value.facts) ??
    (yield* new Failed({
      what: `Cannot ${doing}: ${name} does not report its edition and licence`,
      hint: "This needs playbooks that run inside the machines, and Ansible's collections ansible.posix and ansible.windows on the service's host.",
    }))
  )
})

/** Fails if the service is configured to do nothing inside machines. */
export const requireAutomation = (doing: string): Effect.Effect<void, Conflict, GuestAutomation> =>
  GuestAutomation.use(({ leftOut }) =>
    leftOut === true
      ? Effect.fail(
          new Conflict({ what: `Cannot ${doing}: this service is configured to do nothing inside machines (guest_automation)` }),
        )
      : Effect.void,
  )
