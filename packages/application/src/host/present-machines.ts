import type { RangeMachine, RangeOverview } from "@rangewright/ports"

/** The machines of the ranges that are in the hypervisor's list: a missing one uses nothing of a node. */
export const presentMachines = (ranges: readonly RangeOverview[]): readonly RangeMachine[] =>
  ranges.flatMap(({ machines }) => machines.filter(({ missingSince }) => missingSince === undefined))
