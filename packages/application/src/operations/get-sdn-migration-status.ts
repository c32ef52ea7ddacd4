import { migrationStatus } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { migrationOptions, readInstallation } from "../migration/read-installation.ts"
import { operation } from "../operation/operation.ts"
import { hypervisorAway, userStatuses } from "../wire/statuses.ts"

/** Nothing of an installation, for a single node: nobody looks at it. */
const nothing = {
  quorate: true,
  nodes: [],
  zones: [],
  vnets: [],
  otherPending: [],
  bridges: [],
  ranges: [],
  machines: [],
  rights: [],
  record: undefined,
}

export const getSDNMigrationStatus = operation({
  id: "getSDNMigrationStatus",
  route: "GET /migrate/sdn/status",
  group: "Migration",
  summary: "Whether the networks have to move from bridges to VNets, and what that would need",
  access: "user",
  target: "none",
  output: {
    type: "json",
    schema: Schema.Struct({
      sdn_zone_exists: Schema.Boolean,
      nat_vnet_exists: Schema.Boolean,
      /** Also while network cards hang on old bridges. */
      needs_migration: Schema.Boolean,
      cluster_mode: Schema.Boolean,
      requires_manual_zone: Schema.Boolean,
      current_sdn_zone: Schema.String,
      ludus_nat_interface: Schema.String,
      message: Schema.String,
    }),
  },
  statuses: { 200: "what a migration would need", ...userStatuses, 502: hypervisorAway },
  handle: () =>
    Effect.gen(function* () {
      const options = yield* migrationOptions(false)
      const seen = options.clusterMode ? yield* readInstallation(options.zone, { snapshots: false, accounts: false }) : nothing
      const status = migrationStatus(seen, options)
      return {
        sdn_zone_exists: status.zoneExists,
        nat_vnet_exists: status.natVnetExists,
        needs_migration: status.needsMigration,
        cluster_mode: status.clusterMode,
        requires_manual_zone: status.needsZone,
        current_sdn_zone: status.zone,
        ludus_nat_interface: status.natVnet,
        message: status.message,
      }
    }),
})
