import { type Action, activationError, activationIn, Failed, type Fault, type StepFacts } from "@rangewright/domain"
import { Machines } from "@rangewright/ports"
import { retryStorage } from "@rangewright/run-engine"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { reportOf } from "./ask-windows.ts"

/**
 * Stores the activation state that a machine reported at the end of an activation stage, and fails the stage unless it is activated: a tool
 * that ended without an error proves nothing.
 */
export const judgeLicence = Effect.fnUntraced(function* (
  { machine, stage }: Extract<Action, { readonly kind: "guest" }>,
  facts: StepFacts,
): Effect.fn.Return<void, Fault, Machines> {
  const machines = yield* Machines
  if (stage !== "activate-windows" && stage !== "kms-server") return
  const { range, machine: name } = machine.mark
  const doing = stage === "kms-server" ? `set up a KMS host on ${name}` : `activate Windows on ${name}`
  const report = reportOf(facts)
  if (report === undefined)
    return yield* new Failed({
      what: `Cannot ${doing}: ${name} did not report its licence, so it is not known whether it is activated`,
    })
  const activation = activationIn(report, new Date(yield* Clock.currentTimeMillis))
  yield* retryStorage(machines.keepActivation(range, machine.vmid, activation))
  if (activation.state !== "activated") return yield* new Failed({ what: `Cannot ${doing}: ${activation.because}` })
  if (stage === "kms-server" && report.kmsPort === 0)
    return yield* new Failed({
      what: `Cannot ${doing}: ${report.error === "" ? "Windows is activated, but is not a KMS host" : activationError(report.error)}`,
      hint: "kms_host_key must be the key of a KMS host, not that of a client.",
    })
})
