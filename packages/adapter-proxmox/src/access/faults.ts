import type { HypervisorFault, HypervisorReason } from "@rangewright/ports"

/** Whether a fault has the reason. */
export const has =
  (reason: HypervisorReason) =>
  (fault: HypervisorFault): boolean =>
    fault.facts.reason === reason
