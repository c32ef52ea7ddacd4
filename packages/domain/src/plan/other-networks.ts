import type { Nic } from "../machine/observed.ts"
import { natNetworkName, networkName } from "../network/addressing.ts"
import { isSetUp } from "./differences.ts"
import { type Identified, labelOf, type OwnMachine } from "./identify.ts"
import type { DeployInput } from "./input.ts"
import type { PlanIssue } from "./issue.ts"
import { listed } from "../text.ts"

const hintFor = (clusterMode: boolean): string =>
  clusterMode
    ? "Migrate first (POST /migrate/sdn, or `npm start -- migrate sdn`), which moves all ranges and can be rolled back. To stay on bridges, set cluster_mode: false."
    : "Set cluster_mode: true to continue with VNets. To go back to bridges, call POST /migrate/sdn/rollback with cluster_mode: true, and set it to false afterwards."

const namedAtMost = 5

/**
 * Machines of the range that are attached to networks of the other mode: to bridges where ranges have VNets, or the other way round. A
 * deploy would move their cards without a migration's safeguards, and with a limit split the range in two.
 */
export const otherNetworkIssues = ({ range, settings }: DeployInput, { own }: Identified): readonly PlanIssue[] => {
  const other = !settings.clusterMode
  const ranges = networkName(range.number, other)
  const outside = natNetworkName(other)
  // the cards of a template say nothing about the range
  const isOther = (machine: OwnMachine, nic: Nic): boolean =>
    nic.bridge === ranges || (nic.bridge === outside && outside !== settings.natNetwork && isSetUp(machine, nic))
  const stuck = [...own.values()].flatMap((machine) => {
    const networks = [...new Set(machine.detail.nics.filter((nic) => isOther(machine, nic)).map(({ bridge }) => bridge))]
    return networks.length === 0 ? [] : [`${labelOf(machine.observed)} on ${networks.join(", ")}`]
  })
  if (stuck.length === 0) return []
  const sorts = settings.clusterMode ? ["bridges", "VNets"] : ["VNets", "bridges"]
  return [
    {
      code: "networks-not-moved",
      message: `machines of the range are attached to ${sorts[0]}, but ranges now use ${sorts[1]}: ${listed(stuck, namedAtMost, "; ")}`,
      hint: hintFor(settings.clusterMode),
    },
  ]
}
