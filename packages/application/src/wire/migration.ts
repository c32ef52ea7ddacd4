import {
  type MachineReport,
  type MigrationPlan,
  type MigrationRecord,
  type MigrationStatus,
  renderMigration,
} from "@rangewright/domain"
import * as Schema from "effect/Schema"

/** Members that identify a machine. */
const machineFields = {
  proxmoxID: Schema.Int,
  name: Schema.String,
  node: Schema.String,
  rangeID: Schema.optionalKey(Schema.String),
}
const Card = Schema.Struct({ nic: Schema.String, before: Schema.String, after: Schema.String })

export const MigrationPlanObject = Schema.Struct({
  direction: Schema.Literals(["to-sdn", "to-bridges"]),
  /** Why there is nothing to do; absent if there is something. */
  idle: Schema.optionalKey(Schema.Literals(["single-node", "done"])),
  /** What has to be fixed first; there are no steps while there are any. */
  blockers: Schema.Array(Schema.Struct({ code: Schema.String, message: Schema.String, hint: Schema.String })),
  warnings: Schema.Array(Schema.String),
  /** What is left to do by hand afterwards. */
  byHand: Schema.Array(Schema.String),
  machines: Schema.Array(
    Schema.Struct({
      ...machineFields,
      nics: Schema.Array(Card),
    }),
  ),
  steps: Schema.Array(
    Schema.Struct({
      key: Schema.String,
      title: Schema.String,
      phase: Schema.Literals(["prepare", "move", "clean"]),
      action: Schema.String,
      after: Schema.Array(Schema.String),
      rangeID: Schema.optionalKey(Schema.String),
      machine: Schema.optionalKey(Schema.String),
      estimateSeconds: Schema.Number,
    }),
  ),
  estimateSeconds: Schema.Number,
}).annotate({ identifier: "MigrationPlan" })

/** The outcome as text; for a dry run also the plan as data. */
export const MigrationResult = Schema.Struct({
  result: Schema.String,
  plan: Schema.optionalKey(MigrationPlanObject),
}).annotate({ identifier: "MigrationResult" })

export const migrationPreview = (plan: MigrationPlan): typeof MigrationResult.Type => ({
  result: renderMigration(plan),
  plan: {
    direction: plan.direction,
    ...(plan.idle === undefined ? {} : { idle: plan.idle }),
    blockers: plan.blockers,
    warnings: plan.warnings,
    byHand: plan.byHand,
    machines: plan.machines.map(({ vmid, name, node, range, nics }) => ({
      proxmoxID: vmid,
      name,
      node,
      ...(range === undefined ? {} : { rangeID: range }),
      nics,
    })),
    steps: plan.steps.map(({ key, title, phase, action, after, range, machine, estimate }) => ({
      key,
      title,
      phase,
      action: action.kind,
      after,
      ...(range === undefined ? {} : { rangeID: range }),
      ...(machine === undefined ? {} : { machine }),
      estimateSeconds: estimate,
    })),
    estimateSeconds: plan.estimate,
  },
})

export const MigrationReportObject = Schema.Struct({
  /** Whether a migration has saved the old state. */
  recorded: Schema.Boolean,
  zone: Schema.String,
  /** Bridges before the migration. */
  bridges: Schema.Array(Schema.Struct({ node: Schema.String, name: Schema.String })),
  machines: Schema.Array(
    Schema.Struct({
      ...machineFields,
      /** False: it is gone, or cannot be read. */
      present: Schema.Boolean,
      nics: Schema.Array(
        Schema.Struct({
          nic: Schema.String,
          before: Schema.String,
          now: Schema.optionalKey(Schema.String),
          state: Schema.Literals(["moved", "moved-and-changed", "on-bridge", "elsewhere", "gone"]),
        }),
      ),
    }),
  ),
}).annotate({ identifier: "MigrationReport" })

export const migrationReportObject = (
  record: MigrationRecord | undefined,
  machines: readonly MachineReport[],
): typeof MigrationReportObject.Type => ({
  recorded: record !== undefined,
  zone: record?.zone ?? "",
  bridges: (record?.bridges ?? []).map(({ node, name }) => ({ node, name })),
  machines: machines.map(({ vmid, name, node, range, present, nics }) => ({
    proxmoxID: vmid,
    name,
    node,
    ...(range === undefined ? {} : { rangeID: range }),
    present,
    nics: nics.map(({ nic, before, now, state }) => ({ nic, before, ...(now === undefined ? {} : { now }), state })),
  })),
})

export const MigrationStatusObject = Schema.Struct({
  sdn_zone_exists: Schema.Boolean,
  nat_vnet_exists: Schema.Boolean,
  /** Also true while network cards are attached to old bridges. */
  needs_migration: Schema.Boolean,
  cluster_mode: Schema.Boolean,
  requires_manual_zone: Schema.Boolean,
  current_sdn_zone: Schema.String,
  ludus_nat_interface: Schema.String,
  message: Schema.String,
})

export const migrationStatusObject = (status: MigrationStatus): typeof MigrationStatusObject.Type => ({
  sdn_zone_exists: status.zoneExists,
  nat_vnet_exists: status.natVnetExists,
  needs_migration: status.needsMigration,
  cluster_mode: status.clusterMode,
  requires_manual_zone: status.needsZone,
  current_sdn_zone: status.zone,
  ludus_nat_interface: status.natVnet,
  message: status.message,
})
