import { m0001Initial } from "./m0001-initial.ts"
import { m0002Groups } from "./m0002-groups.ts"
import { m0003Blueprints } from "./m0003-blueprints.ts"
import { m0004Thumbnails } from "./m0004-thumbnails.ts"
import { m0005Sources } from "./m0005-sources.ts"
import { m0006BlueprintSources } from "./m0006-blueprint-sources.ts"
import { m0007RunSubjects } from "./m0007-run-subjects.ts"
import { m0008MigrationRecords } from "./m0008-migration-records.ts"
import { m0009WaitingRuns } from "./m0009-waiting-runs.ts"
import { m0010TakenOverRanges } from "./m0010-taken-over-ranges.ts"
import { m0011RangeIdKeys } from "./m0011-range-id-keys.ts"
import { m0012ForeignAddresses } from "./m0012-foreign-addresses.ts"
import { m0013AuditIndexes } from "./m0013-audit-indexes.ts"
import { m0014MachineLogins } from "./m0014-machine-logins.ts"
import { m0015MachineSystems } from "./m0015-machine-systems.ts"
import { m0016DeployedConfigs } from "./m0016-deployed-configs.ts"
import { m0017SealingKey } from "./m0017-sealing-key.ts"
import { m0018MissingMachines } from "./m0018-missing-machines.ts"
import { m0019AuditDrafts } from "./m0019-audit-drafts.ts"
import { m0020AccessRecords } from "./m0020-access-records.ts"
import { m0021SlotLedgers } from "./m0021-slot-ledgers.ts"
import { m0022MachineSnapshots } from "./m0022-machine-snapshots.ts"
import { m0023TestingModes } from "./m0023-testing-modes.ts"
import { m0024MachineDebts } from "./m0024-machine-debts.ts"
import { m0025RangesWithoutVersion } from "./m0025-ranges-without-version.ts"
import { m0026Quotas } from "./m0026-quotas.ts"
import { m0027VpnKeys } from "./m0027-vpn-keys.ts"
import { m0028VpnServer } from "./m0028-vpn-server.ts"
import { m0029ConsoleTickets } from "./m0029-console-tickets.ts"
import { m0030RouterInspections } from "./m0030-router-inspections.ts"
import { m0031Activations } from "./m0031-activations.ts"
import { m0032Disguises } from "./m0032-disguises.ts"
import { m0033Sessions } from "./m0033-sessions.ts"
import { m0034ScopedKeys } from "./m0034-scoped-keys.ts"
import { m0035DoubtfulTestingModes } from "./m0035-doubtful-testing-modes.ts"
import { m0036JournalsByRun } from "./m0036-journals-by-run.ts"
import { m0037Identities } from "./m0037-identities.ts"
import { m0040ConfigChanges } from "./m0040-config-changes.ts"
import { m0043StayOn } from "./m0043-stay-on.ts"
import { m0044FewerPages } from "./m0044-fewer-pages.ts"
import { m0045GroupNotices } from "./m0045-group-notices.ts"
import { m0046RangeThumbnails } from "./m0046-range-thumbnails.ts"
import { m0047EndedRuns } from "./m0047-ended-runs.ts"
import { m0048StepDurations } from "./m0048-step-durations.ts"
import { m0049RunOrdinals } from "./m0049-run-ordinals.ts"
import { migrationsFor, type SchemaChange } from "./schema-change.ts"

/** Oldest first. An explicit list: the same from sources, from the packed library and from a bundle. */
const changes: readonly SchemaChange[] = [
  m0001Initial,
  m0002Groups,
  m0003Blueprints,
  m0004Thumbnails,
  m0005Sources,
  m0006BlueprintSources,
  m0007RunSubjects,
  m0008MigrationRecords,
  m0009WaitingRuns,
  m0010TakenOverRanges,
  m0011RangeIdKeys,
  m0012ForeignAddresses,
  m0013AuditIndexes,
  m0014MachineLogins,
  m0015MachineSystems,
  m0016DeployedConfigs,
  m0017SealingKey,
  m0018MissingMachines,
  m0019AuditDrafts,
  m0020AccessRecords,
  m0021SlotLedgers,
  m0022MachineSnapshots,
  m0023TestingModes,
  m0024MachineDebts,
  m0025RangesWithoutVersion,
  m0026Quotas,
  m0027VpnKeys,
  m0028VpnServer,
  m0029ConsoleTickets,
  m0030RouterInspections,
  m0031Activations,
  m0032Disguises,
  m0033Sessions,
  m0034ScopedKeys,
  m0035DoubtfulTestingModes,
  m0036JournalsByRun,
  m0037Identities,
  m0040ConfigChanges,
  m0043StayOn,
  m0044FewerPages,
  m0045GroupNotices,
  m0046RangeThumbnails,
  m0047EndedRuns,
  m0048StepDurations,
  m0049RunOrdinals,
]

export const sqliteMigrations = migrationsFor("sqlite", changes)
export const postgresMigrations = migrationsFor("postgresql", changes)
