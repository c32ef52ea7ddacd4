import type { Action, Fault } from "@rangewright/domain"
import { HypervisorFault, type Retry, retryOf } from "@rangewright/ports"

/** What to do about a fault of a step. */
export type Decision =
  | Retry
  /** Wait a little, then dispatch again. */
  | "repeat"
  /** Take another VMID, then dispatch again. */
  | "reallocate"

/** How often a step, or a plan, may meet each of these before it fails; waiting has no end. With its pauses, 24 times are about five minutes. */
export const triesAtMost: Readonly<Record<Exclude<Decision, "wait" | "never">, number>> = {
  repeat: 8,
  insist: 4,
  outlast: 24,
  look: 5,
  reallocate: 10,
}

/** What a fault means for a step. Dispatching again is safe by the ports' contracts. */
export const decide = (action: Action, fault: Fault): Decision => {
  const reason = fault instanceof HypervisorFault ? fault.facts.reason : undefined
  if (reason === "taken" && action.kind === "clone") return "reallocate"
  // the members of a pool leave it a moment after their VMs are gone
  if (reason === "failed" && action.kind === "remove-pool") return "repeat"
  return retryOf(fault)
}

/** Says of each fault that one request meets whether it is made again. */
export const makeMayPass = (): ((fault: Fault) => boolean) => {
  const met = { insist: 0, outlast: 0, look: 0 }
  return (fault) => {
    const retry = retryOf(fault)
    return retry === "wait" || (retry !== "never" && met[retry]++ < triesAtMost[retry])
  }
}
