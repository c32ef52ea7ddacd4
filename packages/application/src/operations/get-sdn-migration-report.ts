import { Migrations } from "../migration/migrations.ts"
import { operation } from "../operation/operation.ts"
import { MigrationReportObject } from "../wire/migration.ts"
import { hypervisorAway } from "../wire/statuses.ts"

export const getSDNMigrationReport = operation({
  id: "getSDNMigrationReport",
  route: "GET /migrate/sdn/report",
  group: "Migration",
  origin: "ours",
  does: "read the report on the migration of networks",
  summary: "The network cards of every machine before the migration and now",
  access: "admin",
  target: "none",
  output: { type: "json", schema: MigrationReportObject },
  statuses: {
    200: "every machine that a migration has saved; none where there was no migration",
    409: "what a migration has saved is damaged",
    502: hypervisorAway,
  },
  handle: () => Migrations.use(({ report }) => report),
})
