import { auditEntries } from "../records/audit-entry.ts"
import { blueprintGroups, blueprints, blueprintThumbnails, blueprintUsers } from "../records/blueprint.ts"
import { consoleTickets } from "../records/console-ticket.ts"
import { groupMembers, groupNotices, groupRanges, groups } from "../records/group.ts"
import { identities, spentSignIns } from "../records/identity.ts"
import { heldAccess, migrationRecords, revision, sealingKeys, slotLedgers, toldRouters } from "../records/installation.ts"
import {
  departedMachines,
  machineDebts,
  machineLogins,
  machines,
  machineSnapshots,
  machineStages,
  machineSystems,
  observation,
  snapshotStages,
  vmidReservations,
} from "../records/machine.ts"
import { groupQuotas, userQuotas } from "../records/quota.ts"
import { rangeConfigs, rangeGrants, ranges, rangeThumbnails, routerInspections } from "../records/range.ts"
import { journalEntries, runs, stepDurations } from "../records/run.ts"
import { scopedKeys } from "../records/scoped-key.ts"
import { sessions } from "../records/session.ts"
import { sourceClaims, sources } from "../records/source.ts"
import { restingNumbers, users } from "../records/user.ts"
import { vpnKeys, vpnServers } from "../records/vpn.ts"
import type { TablesOf } from "./table.ts"

/** All tables. Migrations are generated from these, and a test compares the two. */
export const tables = [
  auditEntries,
  blueprintGroups,
  blueprints,
  blueprintThumbnails,
  blueprintUsers,
  consoleTickets,
  departedMachines,
  groupMembers,
  groupNotices,
  groupQuotas,
  groupRanges,
  groups,
  heldAccess,
  identities,
  journalEntries,
  machineDebts,
  machineLogins,
  machines,
  machineSnapshots,
  machineStages,
  machineSystems,
  migrationRecords,
  observation,
  rangeConfigs,
  rangeGrants,
  ranges,
  rangeThumbnails,
  restingNumbers,
  revision,
  routerInspections,
  runs,
  scopedKeys,
  sealingKeys,
  sessions,
  slotLedgers,
  snapshotStages,
  sourceClaims,
  sources,
  spentSignIns,
  stepDurations,
  toldRouters,
  userQuotas,
  users,
  vmidReservations,
  vpnKeys,
  vpnServers,
] as const

/** The same for MikroORM. */
export const entities = tables.map(({ entity }) => entity)

/** The stored columns of every table. */
export type Tables = TablesOf<(typeof tables)[number]>
