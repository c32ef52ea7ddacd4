import type { RangeId } from "../access/ids.ts"
import { lowerBound } from "../plan/schedule.ts"
import { slots, timing } from "../plan/timing.ts"
import type { MigrationAction, MigrationActionKind, MigrationPhase, NetworkOnNodes } from "./action.ts"
import { groupBy } from "../group-by.ts"
import { moveAction, type Mover } from "./moves.ts"
import type { MigrationStep } from "./plan.ts"

const seconds: Readonly<Record<MigrationActionKind, number>> = {
  "save-record": timing.look,
  "drop-record": timing.look,
  "create-zone": timing.networkEntry,
  "remove-zone": timing.networkEntry,
  "create-vnet": timing.networkEntry,
  "remove-vnet": timing.networkEntry,
  "apply-sdn": timing.vnet,
  "grant-vnet": timing.grant,
  "verify-networks": timing.look,
  "move-nics": timing.moveNics,
  "host-address": timing.look,
  "range-route": timing.networkEntry,
  "leave-host": timing.look,
  "bridge-address": timing.networkEntry,
  "create-bridge": timing.networkEntry,
  "remove-bridge": timing.networkEntry,
  "revert-network": timing.networkEntry,
  "reload-network": timing.networkReload,
  "verify-machines": timing.look,
}

/** The cluster takes one SDN change and one change of its access list at a time, and a node one change of its network. */
const usesOf = (action: MigrationAction): MigrationStep["uses"] => {
  switch (action.kind) {
    case "create-zone":
    case "remove-zone":
    case "create-vnet":
    case "remove-vnet":
    case "apply-sdn":
      return [{ resource: "sdn", slots: 1 }]
    case "grant-vnet":
      return [{ resource: "access", slots: 1 }]
    case "create-bridge":
      return [{ resource: `network@${action.bridge.node}`, slots: 1 }]
    case "bridge-address":
    case "remove-bridge":
    case "revert-network":
    case "reload-network":
      return [{ resource: `network@${action.node}`, slots: 1 }]
    case "move-nics":
      return [{ resource: `move@${action.node}`, slots: slots.move }]
    case "host-address":
    case "range-route":
    case "leave-host":
    case "save-record":
    case "drop-record":
    case "verify-networks":
    case "verify-machines":
      return []
  }
}

/** What distinguishes steps besides their action. */
export interface StepFacts {
  readonly key: string
  readonly title: string
  readonly phase: MigrationPhase
  readonly after: readonly string[]
  readonly range?: RangeId | undefined
  readonly machine?: string | undefined
}

export const migrationStep = (facts: StepFacts, action: MigrationAction): MigrationStep => ({
  range: undefined,
  machine: undefined,
  ...facts,
  action,
  uses: usesOf(action),
  estimate: seconds[action.kind],
})

/** The step that verifies all networks; machines move after it. */
export const networksStep = (
  zone: string | undefined,
  networks: readonly NetworkOnNodes[],
  after: readonly string[],
): MigrationStep =>
  migrationStep(
    { key: "verify-networks", title: "Verify that every network is usable on its nodes", phase: "prepare", after },
    { kind: "verify-networks", zone, networks },
  )

/** The moves, and for each node a step that verifies that its machines have left the old networks. */
export const moveSteps = (movers: readonly Mover[], leaving: readonly string[]): readonly MigrationStep[] => {
  const moves = movers.map((mover) => {
    const { machine, range } = mover.own
    const targets = [...new Set(mover.nics.map(({ to }) => to))].join(", ")
    return migrationStep(
      {
        key: `move:${machine.vmid}`,
        title: `Move ${machine.name} (VM ${machine.vmid}) to ${targets}`,
        phase: "move",
        after: ["verify-networks"],
        range,
        machine: machine.name,
      },
      moveAction(mover),
    )
  })
  const proofs = [...groupBy(movers, ({ own }) => own.machine.node)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([node, here]) => {
      const vmids = here.map(({ own }) => own.machine.vmid)
      return migrationStep(
        {
          key: `verify-machines:${node}`,
          title: `Verify the network cards of ${vmids.length} ${vmids.length === 1 ? "VM" : "VMs"} on ${node}`,
          phase: "move",
          after: vmids.map((vmid) => `move:${vmid}`),
        },
        { kind: "verify-machines", node, machines: vmids, leaving },
      )
    })
  return [...moves, ...proofs]
}

/** Expected seconds in all: phases run one after the other, and each lasts at least as long as its scarcest resource is busy. */
export const estimateOf = (steps: readonly MigrationStep[]): number =>
  [...groupBy(steps, ({ phase }) => phase).values()]
    .map((part) => {
      const keys = new Set(part.map(({ key }) => key))
      return lowerBound({ steps: part.map((step) => ({ ...step, after: step.after.filter((key) => keys.has(key)) })) })
    })
    .reduce((sum, part) => sum + part, 0)
