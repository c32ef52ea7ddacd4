import { migrationReport } from "@rangewright/domain"
import { MigrationRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { migrationOptions, readInstallation } from "../migration/read-installation.ts"
import { operation } from "../operation/operation.ts"
import { migrationReportObject, MigrationReportObject } from "../wire/migration.ts"
import { adminStatuses, hypervisorAway } from "../wire/statuses.ts"

export const getSDNMigrationReport = operation({
  id: "getSDNMigrationReport",
  route: "GET /migrate/sdn/report",
  group: "Migration",
  origin: "ours",
  summary: "The network cards of every machine before the migration and now",
  access: "admin",
  target: "none",
  output: { type: "json", schema: MigrationReportObject },
  statuses: {
    200: "every machine that a migration has saved; none where there was no migration",
    ...adminStatuses,
    400: "userID names an unknown user",
    502: hypervisorAway,
  },
  handle: () =>
    Effect.gen(function* () {
      const record = yield* (yield* MigrationRecords).find
      if (record === undefined) return migrationReportObject(undefined, [])
      const options = yield* migrationOptions(false)
      const installation = yield* readInstallation(options.zone, { snapshots: false, accounts: false })
      return migrationReportObject(record, migrationReport({ ...installation, record }, options))
    }),
})
