import type { InstallationMachine, InstallationNode, PendingInterface } from "./installation.ts"
import { machineLabel, networksOf } from "./machines.ts"
import { nicNetwork } from "./nic.ts"
import type { Mover } from "./moves.ts"
import type { MigrationPicture } from "./picture.ts"
import type { MigrationBlocker } from "./plan.ts"

/** Nodes that cannot take part now. `changesNetworks`: the plan contains an apply or a reload. */
export const nodeObstacles = ({ installation }: MigrationPicture, changesNetworks: boolean): readonly MigrationBlocker[] => {
  const { quorate, nodes, doubts = [] } = installation
  const blockers: MigrationBlocker[] = []
  if (!quorate)
    blockers.push({
      code: "no-quorum",
      message: "the cluster has no quorum, so nothing in it can be changed",
      hint: "Bring back enough nodes.",
    })
  if (doubts.length > 0)
    blockers.push({
      code: "machines-in-doubt",
      message: `it is not known which machines use the networks: ${doubts.slice(0, 10).join("; ")}`,
      hint: "Try again when GET /readyz no longer says so; doctor says which rights the service's account lacks.",
    })
  for (const { name, online, missingPackages } of nodes) {
    if (!online)
      blockers.push({
        code: "node-offline",
        message: `node ${name} is offline, but networks change on every node`,
        hint: `Bring node ${name} back, or remove it from the cluster.`,
      })
    if (changesNetworks && missingPackages.length > 0)
      blockers.push({
        code: "node-unfit",
        message: `node ${name} lacks ${missingPackages.join(", ")}, needed to change its networks`,
        hint: `Run apt install ${missingPackages.join(" ")} on node ${name}.`,
      })
  }
  return blockers
}

/** Edits of nodes' own networks that are not ours and that a reload would apply. */
export const pendingNetwork = (
  nodes: readonly InstallationNode[],
  isOurs: (node: string, edit: PendingInterface) => boolean,
): readonly MigrationBlocker[] =>
  nodes.flatMap(({ name, pending }) => {
    const foreign = pending.filter((edit) => !isOurs(name, edit)).map((edit) => `${edit.name} is ${edit.change}`)
    if (foreign.length === 0) return []
    return [
      {
        code: "pending-network" as const,
        message: `node ${name} has pending network changes that are not ours (${foreign.slice(0, 10).join(", ")}), and a reload would apply them`,
        hint: "Apply or revert them under System > Network of the node.",
      },
    ]
  })

/** Moving a card with a pending change would apply that change, or lose it. */
const waitingObstacle = (machine: InstallationMachine, leaving: ReadonlySet<string>): readonly MigrationBlocker[] => {
  const now = new Map(machine.nics?.map(({ nic, text }) => [nic, text]))
  const stuck = (machine.waiting ?? []).filter(({ nic, text }) =>
    [now.get(nic) ?? "", text].some((card) => leaving.has(nicNetwork(card) ?? "")),
  )
  if (stuck.length === 0) return []
  return [
    {
      code: "machine-pending",
      message: `${machineLabel(machine)} has changes of ${stuck.map(({ nic }) => nic).join(", ")} that wait for its next start`,
      hint: "Shut it down, so that it moves with them (a restart inside it is not enough), or revert them under Hardware of the VM.",
    },
  ]
}

/** Without the machines of nodes that are offline: such a node is reported once. */
const unreadableObstacles = (
  unreadable: readonly InstallationMachine[],
  nodes: readonly InstallationNode[],
): readonly MigrationBlocker[] => {
  const offline = new Set(nodes.filter(({ online }) => !online).map(({ name }) => name))
  return unreadable
    .filter(({ node }) => !offline.has(node))
    .map((machine) => ({
      code: "machine-unreadable",
      message: `the configuration of ${machineLabel(machine)} in the pool ${machine.pool ?? "none"} cannot be read`,
      hint: "Find out why its node does not return it, or remove it from the pool.",
    }))
}

/** Machines that cannot be moved, or that may not be ours to move. `leaving`: the networks that machines leave. */
export const machineObstacles = (
  { survey, installation }: MigrationPicture,
  movers: readonly Mover[],
  leaving: ReadonlySet<string>,
): readonly MigrationBlocker[] => [
  ...movers.flatMap(({ own: { machine } }): readonly MigrationBlocker[] =>
    machine.lock === undefined
      ? []
      : [
          {
            code: "machine-locked",
            message: `${machineLabel(machine)} is locked (${machine.lock})`,
            hint: "Wait until it is released or, if the lock is stale, unlock it on its node with qm unlock.",
          },
        ],
  ),
  ...survey.own.flatMap(({ machine }) => waitingObstacle(machine, leaving)),
  ...unreadableObstacles(survey.unreadable, installation.nodes),
  ...survey.contradictory
    .filter(({ machine }) => [...networksOf(machine)].some((network) => leaving.has(network)))
    .map(({ machine, marked, pool }): MigrationBlocker => ({
      code: "machine-contradictory",
      message: `${machineLabel(machine)} is in the pool ${pool} and carries the mark of range ${marked}`,
      hint: "Put it into the pool of its range, or out of all pools.",
    })),
]
