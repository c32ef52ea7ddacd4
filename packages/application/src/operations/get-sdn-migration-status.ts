import { Migrations } from "../migration/migrations.ts"
import { operation } from "../operation/operation.ts"
import { MigrationStatusObject } from "../wire/migration.ts"
import { hypervisorAway } from "../wire/statuses.ts"

export const getSDNMigrationStatus = operation({
  id: "getSDNMigrationStatus",
  route: "GET /migrate/sdn/status",
  group: "Migration",
  does: "read the state of the migration of networks",
  summary: "Whether the networks have to move from bridges to VNets, and what that requires",
  access: "user",
  target: "none",
  output: { type: "json", schema: MigrationStatusObject },
  statuses: { 200: "what a migration would need", 502: hypervisorAway },
  handle: () => Migrations.use(({ status }) => status),
})
