import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Migrations } from "../migration/migrations.ts"
import { operation } from "../operation/operation.ts"
import { migrationPreview, MigrationResult } from "../wire/migration.ts"
import { BooleanText } from "../wire/parameters.ts"
import { hypervisorAway } from "../wire/statuses.ts"

export const migrateToSDN = operation({
  id: "migrateToSDN",
  route: "POST /migrate/sdn",
  group: "Migration",
  does: "migrate networks to SDN",
  summary: "Move all networks from bridges to SDN VNets; answers when it is done, or joins a running migration",
  access: "admin",
  target: "none",
  query: {
    /** Returns what would be done, and changes nothing. */
    dryRun: Schema.optionalKey(BooleanText),
    /** Creates the zone if it is missing, with all nodes as peers. */
    createZone: Schema.optionalKey(BooleanText),
  },
  output: { type: "json", schema: MigrationResult },
  statuses: {
    200: "the text reports the result",
    400: "dryRun or createZone is neither true nor false",
    409: "something prevents it: all reasons are listed, and nothing was changed; ranges are being changed; a rollback to bridges is running",
    500: "a step failed: the preparations were undone, or machines have begun to move and a new call continues from there",
    502: hypervisorAway,
  },
  handle: ({ query, user }) =>
    Effect.gen(function* () {
      const { plan, networks } = yield* Migrations
      const createZone = query.createZone ?? false
      if (query.dryRun === true) return migrationPreview(yield* plan("to-sdn", createZone))
      return { result: yield* networks("to-sdn", createZone, user.id) }
    }),
})
