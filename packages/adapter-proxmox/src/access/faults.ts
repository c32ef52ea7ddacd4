import type { HypervisorFault, HypervisorReason } from "@rangewright/ports"

export const has =
  (reason: HypervisorReason) =>
  (fault: HypervisorFault): boolean =>
    fault.facts.reason === reason
