import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { asFailure } from "../source/content-refused.ts"
import { sourceCatalog } from "../source/source-catalog.ts"
import { actingAs, visibleSource } from "../source/visible-source.ts"
import { SourceCatalog } from "../wire/source-catalog.ts"
import { sourceStatuses } from "../wire/statuses.ts"

export const getSourceCatalog = operation({
  id: "getSourceCatalog",
  route: "GET /sources/{sourceID}/catalog",
  group: "Sources",
  does: "read the catalog of a source",
  summary:
    "What a source ships, with each item's state: whether it is installed for you, where, in which version, and who needs it",
  access: "user",
  accessNote: "its owner and administrators",
  target: "none",
  path: { sourceID: Schema.String },
  query: actingAs,
  // the domain produces it in the schema's form, so thousands of items are not encoded again
  output: { type: "prepared-json", schema: SourceCatalog },
  statuses: { 200: "the catalog", ...sourceStatuses, 500: "the content of the source is not available" },
  handle: ({ path, query, user }) =>
    Effect.gen(function* () {
      const source = yield* visibleSource(path.sourceID, { user, query })
      return JSON.stringify(yield* Effect.mapError(sourceCatalog(source, user), asFailure))
    }),
})
