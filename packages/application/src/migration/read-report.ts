import { migrationReport, migrationStatus } from "@rangewright/domain"
import { MigrationRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { migrationReportObject, migrationStatusObject } from "../wire/migration.ts"
import { emptyInstallation, migrationOptions, readInstallation } from "./read-installation.ts"

/** What a migration would need, as the wire has it; on a single node the hypervisor is hardly asked. */
export const readMigrationStatus = Effect.gen(function* () {
  const options = yield* migrationOptions(false)
  const look = { snapshots: false, accounts: false }
  return migrationStatusObject(
    migrationStatus(options.clusterMode ? yield* readInstallation(options.zone, look) : emptyInstallation, options),
  )
})

/** Every machine's network cards before the migration and now, as the wire has them. */
export const readMigrationReport = Effect.gen(function* () {
  const record = yield* (yield* MigrationRecords).find
  if (record === undefined) return migrationReportObject(undefined, [])
  const options = yield* migrationOptions(false)
  const installation = yield* readInstallation(options.zone, { snapshots: false, accounts: false })
  return migrationReportObject(record, migrationReport({ ...installation, record }, options))
})
