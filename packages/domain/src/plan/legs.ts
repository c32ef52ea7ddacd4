import { readDescription } from "../machine/mark.ts"
import { isRouter } from "../machine/router.ts"
import { vlans } from "../network/addressing.ts"
import { rangeMembers } from "./identify.ts"
import { type DeployInput, isWhole } from "./input.ts"

/**
 * VLANs on which the router has a leg: those of the configuration in order of appearance, then, ascending, those that other VMs of the
 * range's pool use, whoever made them, and those that the router has. `network`: name of the range's network. A whole deploy that prunes
 * drops legs that nothing which stays uses.
 */
export const legsOf = (input: DeployInput, network: string): readonly number[] => {
  const { config, range, world, choice } = input
  const configured = [...new Set(config.machines.map((m) => m.vlan))]
  const members = rangeMembers(range.id, world).map((observed) => ({ observed, detail: world.details.get(observed.vmid) }))
  // a VM that cannot be read may be on any VLAN
  const prunes = choice.prune && isWhole(choice) && members.every(({ detail }) => detail !== undefined)
  const others = members.flatMap(({ observed, detail }) => {
    const isOurs = readDescription(detail?.description ?? "").mark?.range === range.id
    if (detail === undefined || (prunes && (isOurs || isRouter(observed, range.id)))) return []
    return detail.nics.flatMap(({ bridge, tag }) => (bridge === network && tag !== undefined ? [tag] : []))
  })
  const known = new Set(configured)
  const extra = [...new Set(others)].filter((tag) => !known.has(tag) && tag >= vlans.first && tag <= vlans.last)
  return [...configured, ...extra.sort((a, b) => a - b)]
}
