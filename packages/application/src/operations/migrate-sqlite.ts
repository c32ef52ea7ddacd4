import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Migrations } from "../migration/migrations.ts"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"
import { BooleanText } from "../wire/parameters.ts"
import { waitCutShort } from "../wire/statuses.ts"

export const migrateSQLiteToPostgreSQL = operation({
  id: "migrateSQLiteToPostgreSQL",
  route: "POST /migrate/sqlite",
  group: "Migration",
  does: "import a first-generation installation",
  summary: "Import users, keys, ranges and machines of a first-generation installation; may be repeated",
  access: "admin",
  target: "none",
  query: {
    /** Returns what would be imported, and changes nothing. */
    dryRun: Schema.optionalKey(BooleanText),
  },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "what was imported and what was not, or that there is nothing to do",
    400: "dryRun is neither true nor false",
    409: waitCutShort,
    502: "the old data cannot be read",
  },
  handle: ({ query }) =>
    Effect.map(
      Migrations.use(({ legacy }) => legacy(query.dryRun ?? false)),
      (result) => ({ result }),
    ),
})
