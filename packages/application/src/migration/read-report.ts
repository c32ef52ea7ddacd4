import { type Installation, migrationReport, migrationStatus } from "@rangewright/domain"
import { MigrationRecords, NetworkMigration } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { migrationReportObject, migrationStatusObject } from "../wire/migration.ts"
import { emptyInstallation, migrationOptions, readInstallation, readRanges } from "./read-installation.ts"

/** The cached state, which anybody may read as often as they like; the record of an earlier migration is not needed for it. */
const glanceAtInstallation = (zone: string) =>
  Effect.gen(function* () {
    const migration = yield* NetworkMigration
    const seen = yield* migration.observeCached(zone)
    const installation: Installation = { ...seen, ranges: yield* readRanges(undefined), record: undefined }
    return installation
  })

/** What a migration would need, in wire format; on a single node it makes hardly any call to the hypervisor. */
export const readMigrationStatus = Effect.gen(function* () {
  const options = yield* migrationOptions(false)
  const installation = options.clusterMode ? yield* glanceAtInstallation(options.zone) : emptyInstallation
  return migrationStatusObject(migrationStatus(installation, options))
})

/** Every machine's network cards before the migration and now, in wire format. */
export const readMigrationReport = Effect.gen(function* () {
  const records = yield* MigrationRecords
  const record = yield* records.find
  if (record === undefined) return migrationReportObject(undefined, [])
  const options = yield* migrationOptions(false)
  const installation = yield* readInstallation(options.zone, { snapshots: false, accounts: false })
  return migrationReportObject(record, migrationReport({ ...installation, record }, options))
})
