import type { MigrationAction } from "./action.ts"
import type { MigrationStep } from "./plan.ts"
import { migrationStep } from "./steps.ts"
import { groupBy } from "../group-by.ts"

/**
 * The steps that undo what a migration has prepared, or may have: `begun` holds the keys of all steps that were started. Undefined once
 * machines have begun to move; from there it only goes forward. With `keepRecord`, the saved record stays: an earlier one is part of it.
 */
export const undoMigration = (
  steps: readonly Pick<MigrationStep, "key" | "phase" | "action">[],
  begun: ReadonlySet<string>,
  keepRecord: boolean,
): readonly MigrationStep[] | undefined => {
  const done = steps.filter(({ key }) => begun.has(key))
  if (done.some(({ phase }) => phase !== "prepare")) return undefined
  const undone = done.toReversed().flatMap(({ action }) => inverseOf(action, begun) ?? [])
  const vnets = undone.filter(({ kind }) => kind === "remove-vnet").map(vnetStep)
  const zones = undone
    .filter(({ kind }) => kind === "remove-zone")
    .map((action) =>
      step(
        action,
        "Remove the zone again",
        vnets.map(({ key }) => key),
      ),
    )
  const written = [...vnets, ...zones]
  const apply =
    written.length === 0
      ? []
      : [
          migrationStep(
            {
              key: "undo:apply-sdn",
              title: "Apply the SDN changes on every node",
              phase: "prepare",
              after: written.map(({ key }) => key),
            },
            { kind: "apply-sdn", zone: zoneOf(undone), present: [], absent: vnetsOf(undone) },
          ),
        ]
  const hosts = undone
    .filter(({ kind }) => kind === "leave-host")
    .map((action) => step(action, "Remove the address from the node again", []))
  const bridges = bridgeSteps(undone)
  const before = [...hosts, ...written, ...apply, ...bridges]
  const saved = done.some(({ action }) => action.kind === "save-record")
  const record =
    saved && !keepRecord
      ? [
          step(
            { kind: "drop-record" },
            "Delete the saved state",
            before.map(({ key }) => key),
          ),
        ]
      : []
  return [...before, ...record]
}

const zoneOf = (undone: readonly MigrationAction[]): string =>
  undone.flatMap((action) => (action.kind === "remove-vnet" || action.kind === "remove-zone" ? [action.zone] : []))[0] ?? ""

const vnetsOf = (undone: readonly MigrationAction[]): readonly string[] =>
  undone.flatMap((action) => (action.kind === "remove-vnet" ? [action.vnet] : [])).sort()

const step = (action: MigrationAction, title: string, after: readonly string[]): MigrationStep =>
  migrationStep({ key: `undo:${action.kind}`, title, phase: "prepare", after }, action)

const vnetStep = (action: MigrationAction): MigrationStep => {
  const name = action.kind === "remove-vnet" ? action.vnet : ""
  return migrationStep(
    { key: `undo:remove-vnet:${name}`, title: `Remove VNet ${name} again`, phase: "prepare", after: [] },
    action,
  )
}

/**
 * The inverse of an action; undefined for those that leave nothing behind. Rights go with their VNet. What has not been applied yet is
 * removed only while it is pending: somebody else may have created the same meanwhile.
 */
const inverseOf = (action: MigrationAction, begun: ReadonlySet<string>): MigrationAction | undefined => {
  switch (action.kind) {
    case "create-zone": {
      const { name, peers } = action.zone
      return { kind: "remove-zone", zone: name, peers, ...(begun.has("apply-sdn") ? {} : { unapplied: true }) }
    }
    case "create-vnet":
      return { kind: "remove-vnet", vnet: action.vnet.name, zone: action.vnet.zone, alias: action.vnet.alias }
    case "create-bridge": {
      const { node, name } = action.bridge
      return { kind: "remove-bridge", node, bridge: name, ...(begun.has(`reload-network:${node}`) ? {} : { unapplied: true }) }
    }
    case "bridge-address":
      return { kind: "bridge-address", node: action.node, bridge: action.bridge }
    case "host-address":
      return action.fresh ? { kind: "leave-host", node: action.node, device: action.device, address: action.address } : undefined
    case "save-record":
    case "drop-record":
    case "remove-zone":
    case "remove-vnet":
    case "apply-sdn":
    case "grant-vnet":
    case "verify-networks":
    case "move-nics":
    case "range-route":
    case "leave-host":
    case "remove-bridge":
    case "revert-network":
    case "reload-network":
    case "verify-machines":
      return undefined
  }
}

const bridgeSteps = (undone: readonly MigrationAction[]): readonly MigrationStep[] => {
  const edits = undone.flatMap((action) => (action.kind === "remove-bridge" || action.kind === "bridge-address" ? [action] : []))
  return [...groupBy(edits, ({ node }) => node)].flatMap(([node, list]) => {
    const steps = list.map((action) =>
      migrationStep(
        {
          key: `undo:${action.kind}:${node}/${action.bridge}`,
          title:
            action.kind === "remove-bridge"
              ? `Remove bridge ${action.bridge} from node ${node} again`
              : `Write bridge ${action.bridge} of node ${node} without its address again`,
          phase: "prepare",
          after: [],
        },
        action,
      ),
    )
    const reload = migrationStep(
      {
        key: `undo:reload-network:${node}`,
        title: `Reload the network of node ${node}`,
        phase: "prepare",
        after: steps.map(({ key }) => key),
      },
      {
        kind: "reload-network",
        node,
        present: list.flatMap(({ kind, bridge }) => (kind === "bridge-address" ? [bridge] : [])),
        absent: list.flatMap(({ kind, bridge }) => (kind === "remove-bridge" ? [bridge] : [])).sort(),
      },
    )
    return [...steps, reload]
  })
}
