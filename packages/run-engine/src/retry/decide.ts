import type { Action, Fault } from "@rangewright/domain"
import { HypervisorFault, type Retry, retryOf } from "@rangewright/ports"

/** How a step continues after a fault. */
export type Decision =
  | Retry
  /** Dispatch again after a pause. */
  | "repeat"
  /** Choose another VMID, then dispatch again. */
  | "reallocate"

/** Attempts before a step or a plan fails; `wait` has no limit. 24 attempts with their pauses are about five minutes. */
export const triesAtMost: Readonly<Record<Exclude<Decision, "wait" | "never">, number>> = {
  repeat: 8,
  insist: 4,
  outlast: 24,
  look: 5,
  reallocate: 10,
}

/** How a step continues after this fault. The ports' contracts make dispatching again safe. */
export const decide = (action: Action, fault: Fault): Decision => {
  const reason = fault instanceof HypervisorFault ? fault.facts.reason : undefined
  if (reason === "taken" && action.kind === "clone") return "reallocate"
  // the members of a pool leave it a moment after their VMs are gone
  if (reason === "failed" && action.kind === "remove-pool") return "repeat"
  return retryOf(fault)
}

/** Counts the faults of one request, and decides for each whether to retry. */
export const makeMayPass = (): ((fault: Fault) => boolean) => {
  const met = { insist: 0, outlast: 0, look: 0 }
  return (fault) => {
    const retry = retryOf(fault)
    return retry === "wait" || (retry !== "never" && met[retry]++ < triesAtMost[retry])
  }
}
