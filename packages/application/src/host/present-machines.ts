import type { RangeMachine, RangeOverview } from "@rangewright/ports"

/** The machines of the ranges that the hypervisor's list has: one that it lacks takes nothing of a node. */
export const presentMachines = (ranges: readonly RangeOverview[]): readonly RangeMachine[] =>
  ranges.flatMap(({ machines }) => machines.filter(({ missingSince }) => missingSince === undefined))
