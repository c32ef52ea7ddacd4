import type { Action, Fault } from "@rangewright/domain"
import { GuestFault, HypervisorFault, type HypervisorReason } from "@rangewright/ports"

/** What to do about a fault of a step. */
export type Decision =
  /** Wait until the world answers again, then do the same thing again: dispatch again, or settle with the same token. */
  | "wait"
  /** Wait a little, then dispatch again. */
  | "repeat"
  /** The same for some seconds: rights and log-ins are also refused while a node's cluster file system starts anew. */
  | "insist"
  /** The same for some minutes: somebody else works on it, as who moves or backs up a machine does. */
  | "outlast"
  /** Look at the world first, then dispatch again: whether the effect has happened is not known. */
  | "look"
  /** Take another VMID, then dispatch again. */
  | "reallocate"
  | "fail"

const ofReason: Readonly<Record<HypervisorReason, Decision>> = {
  away: "wait",
  "no-quorum": "wait",
  "unknown-effect": "look",
  locked: "outlast",
  // only a clone chooses an id; see below
  taken: "fail",
  unauthenticated: "insist",
  forbidden: "insist",
  "not-found": "fail",
  invalid: "fail",
  "not-ours": "fail",
  exhausted: "fail",
  failed: "fail",
}

/** How often a step may meet each of these before it fails; waiting for the world has no end. With its pauses, 24 times are about five minutes. */
export const triesAtMost: Readonly<Record<Exclude<Decision, "wait" | "fail">, number>> = {
  repeat: 8,
  insist: 4,
  outlast: 24,
  look: 5,
  reallocate: 10,
}

/** The table of what faults mean for a step. Dispatching again is safe by the ports' contracts; it is never done for a plain failure. */
export const decide = (action: Action, fault: Fault): Decision => {
  if (fault instanceof GuestFault) return fault.facts.reason === "away" ? "look" : "fail"
  if (!(fault instanceof HypervisorFault)) return "fail"
  const { reason } = fault.facts
  if (reason === "taken" && action.kind === "clone") return "reallocate"
  // the members of a pool leave it a moment after their VMs are gone
  if (reason === "failed" && action.kind === "remove-pool") return "repeat"
  return ofReason[reason]
}
