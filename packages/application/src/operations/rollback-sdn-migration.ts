import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Migrations } from "../migration/migrations.ts"
import { operation } from "../operation/operation.ts"
import { migrationPreview, MigrationResult } from "../wire/migration.ts"
import { BooleanText } from "../wire/parameters.ts"
import { hypervisorAway } from "../wire/statuses.ts"

export const rollbackSDNMigration = operation({
  id: "rollbackSDNMigration",
  route: "POST /migrate/sdn/rollback",
  group: "Migration",
  origin: "ours",
  does: "roll the migration of networks back",
  summary: "Bring a migrated installation back to its bridges; answers when it is done",
  access: "admin",
  target: "none",
  query: { dryRun: Schema.optionalKey(BooleanText) },
  output: { type: "json", schema: MigrationResult },
  statuses: {
    200: "the text reports the result",
    400: "dryRun is neither true nor false",
    409: "something prevents it, such as a missing record of the bridges: all reasons are listed, and nothing was changed",
    500: "a step failed: the preparations were undone, or machines have begun to move and a new call continues from there",
    502: hypervisorAway,
  },
  handle: ({ query, user }) =>
    Effect.gen(function* () {
      const { plan, networks } = yield* Migrations
      if (query.dryRun === true) return migrationPreview(yield* plan("to-bridges", false))
      return { result: yield* networks("to-bridges", false, user.id) }
    }),
})
