import type {
  AuditTrail,
  Blueprints,
  Groups,
  Lease,
  Machines,
  MigrationRecords,
  Ranges,
  RunJournal,
  Sources,
  StorageFault,
  Users,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Database } from "./engine/database.ts"
import { auditLayer } from "./repositories/audit.ts"
import { blueprintsLayer } from "./repositories/blueprints.ts"
import { groupsLayer } from "./repositories/groups.ts"
import { leaseLayer } from "./repositories/lease.ts"
import { machinesLayer } from "./repositories/machines.ts"
import { migrationRecordsLayer } from "./repositories/migration-records.ts"
import { rangesLayer } from "./repositories/ranges.ts"
import { runJournalLayer } from "./repositories/run-journal.ts"
import { sourcesLayer } from "./repositories/sources.ts"
import { usersLayer } from "./repositories/users.ts"

/** Where the data is: a PostgreSQL server (`postgres://…`), or a file of SQLite, which is made when it is missing. */
export type StorageOptions = { readonly databaseUrl: string } | { readonly file: string }

/** The engine that was chosen; the other one is not even loaded. */
const databaseLayer = (options: StorageOptions): Layer.Layer<Database, StorageFault> =>
  Layer.unwrap(
    Effect.promise(async () =>
      "file" in options
        ? (await import("./engine/sqlite.ts")).sqliteLayer(options.file)
        : (await import("./engine/postgres.ts")).postgresLayer(options.databaseUrl),
    ),
  )

/**
 * All storage ports, and the database under them for `storageHealth`, `backupTo` and `restoreFrom`. Making the layer opens the database and
 * brings it up to date; it fails where that cannot be done, also when the data was written by a newer version.
 */
export const storageLayer = (
  options: StorageOptions,
): Layer.Layer<
  AuditTrail | Blueprints | Database | Groups | Lease | Machines | MigrationRecords | Ranges | RunJournal | Sources | Users,
  StorageFault
> =>
  Layer.mergeAll(
    auditLayer,
    blueprintsLayer,
    groupsLayer,
    leaseLayer,
    machinesLayer,
    migrationRecordsLayer,
    rangesLayer,
    runJournalLayer,
    sourcesLayer,
    usersLayer,
  ).pipe(Layer.provideMerge(databaseLayer(options)))
