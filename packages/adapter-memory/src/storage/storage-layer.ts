import type {
  AuditTrail,
  Blueprints,
  Groups,
  Lease,
  LegacyData,
  Machines,
  MigrationRecords,
  Ranges,
  RunJournal,
  Sources,
  Users,
} from "@rangewright/ports"
import * as Layer from "effect/Layer"
import { auditLayer } from "./audit.ts"
import { blueprintsLayer } from "./blueprints.ts"
import { groupsLayer } from "./groups.ts"
import { leaseLayer } from "./lease.ts"
import { legacyDataLayer } from "./legacy-data.ts"
import { machinesLayer } from "./machines.ts"
import { migrationRecordsLayer } from "./migration-records.ts"
import type { MemoryStore } from "./memory-store.ts"
import { rangesLayer } from "./ranges.ts"
import { runJournalLayer } from "./run-journal.ts"
import { sourcesLayer } from "./sources.ts"
import { usersLayer } from "./users.ts"

/** All storage ports over one store. Layers made over the same store see the same data: a new one is a restarted process. */
export const memoryStorageLayer = (
  store: MemoryStore,
): Layer.Layer<
  AuditTrail | Blueprints | Groups | Lease | LegacyData | Machines | MigrationRecords | Ranges | RunJournal | Sources | Users
> =>
  Layer.mergeAll(
    auditLayer(store),
    blueprintsLayer(store),
    groupsLayer(store),
    leaseLayer(store),
    legacyDataLayer(store),
    machinesLayer(store),
    migrationRecordsLayer(store),
    rangesLayer(store),
    runJournalLayer(store),
    sourcesLayer(store),
    usersLayer(store),
  )
