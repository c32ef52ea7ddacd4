import type { StorageFault, StoragePorts } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Database } from "./engine/database.ts"
import type { OlderData } from "./engine/migrate.ts"
import { accessRecordsLayer } from "./repositories/access-records.ts"
import { auditLayer } from "./repositories/audit.ts"
import { blueprintsLayer } from "./repositories/blueprints.ts"
import { consoleTicketsLayer } from "./repositories/console-tickets.ts"
import { groupsLayer } from "./repositories/groups.ts"
import { identitiesLayer } from "./repositories/identities.ts"
import { machinesLayer } from "./repositories/machines.ts"
import { migrationRecordsLayer } from "./repositories/migration-records.ts"
import { quotasLayer } from "./repositories/quotas.ts"
import { rangesLayer } from "./repositories/ranges.ts"
import { runJournalLayer } from "./repositories/run-journal.ts"
import { scopedKeysLayer } from "./repositories/scoped-keys.ts"
import { sessionsLayer } from "./repositories/sessions.ts"
import { sharedSlotsLayer } from "./repositories/shared-slots.ts"
import { sourcesLayer } from "./repositories/sources.ts"
import { stepDurationsLayer } from "./repositories/step-durations.ts"
import { usersLayer } from "./repositories/users.ts"
import { vpnRecordsLayer } from "./repositories/vpn-records.ts"

/** Where the data is: a PostgreSQL server (`postgres://…`), or an SQLite file, which is created if missing. */
export type StorageOptions = { readonly databaseUrl: string } | { readonly file: string }

/** The configured engine; the other one is not even loaded. */
const databaseLayer = (options: StorageOptions, older: OlderData | undefined): Layer.Layer<Database, StorageFault> =>
  Layer.unwrap(
    Effect.promise(async () =>
      "file" in options
        ? (await import("./engine/sqlite.ts")).sqliteLayer(options.file, undefined, older)
        : (await import("./engine/postgres.ts")).postgresLayer(options.databaseUrl, undefined, undefined, older),
    ),
  )

/**
 * All storage ports, and the underlying database for `storageHealth`, `backupTo` and `fillFrom`. Building the layer opens the database and
 * migrates it, unless `older` says to refuse an older one; it fails when that is impossible, for example because a newer version wrote the
 * data.
 */
export const storageLayer = (options: StorageOptions, older?: OlderData): Layer.Layer<StoragePorts | Database, StorageFault> =>
  Layer.mergeAll(
    accessRecordsLayer,
    auditLayer,
    blueprintsLayer,
    consoleTicketsLayer,
    groupsLayer,
    identitiesLayer,
    machinesLayer,
    migrationRecordsLayer,
    quotasLayer,
    rangesLayer,
    runJournalLayer,
    scopedKeysLayer,
    sessionsLayer,
    sharedSlotsLayer,
    sourcesLayer,
    stepDurationsLayer,
    usersLayer,
    vpnRecordsLayer,
  ).pipe(Layer.provideMerge(databaseLayer(options, older)))
