import type { RangeId } from "../access/ids.ts"
import { type MachineConfig, renderName } from "./config/index.ts"

/** Inventory groups of a range's router. */
export const routerGroups = (rangeId: RangeId): readonly string[] => [rangeId, `${rangeId}_router`]

/**
 * Inventory groups of a machine, in the order of descriptions: the range, the kind of machine, then the configured groups. A domain
 * controller is in the domain's groups instead of the endpoints'.
 */
export const machineGroups = (rangeId: RangeId, machine: MachineConfig): readonly string[] => {
  const isController = machine.domain !== undefined && machine.domain.role !== "member"
  const kind = isController
    ? [`${rangeId}_test_range_network`, `${rangeId}_test_range_dc`]
    : [`${rangeId}_${machine.os.kind}_endpoints`]
  return [...new Set([rangeId, ...kind, ...machine.ansibleGroups.map((group) => renderName(group, { rangeId }))])]
}
