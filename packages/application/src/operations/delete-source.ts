import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { deleteSource as removeSource, useOfSource } from "../source/delete-source.ts"
import { actingAs, visibleSource } from "../source/visible-source.ts"
import { BooleanText } from "../wire/parameters.ts"
import { DeleteSourceResponse, deleteSourceResponse } from "../wire/source-use.ts"
import { sourceStatuses } from "../wire/statuses.ts"

export const deleteSource = operation({
  id: "deleteSource",
  route: "DELETE /sources/{sourceID}",
  group: "Sources",
  does: "delete a source",
  summary:
    "Delete a source with its blueprints and say who used them; its runs are cancelled, and everything else that was installed from it stays. With dryRun only report that",
  access: "user",
  accessNote: "its owner and administrators",
  target: "none",
  path: { sourceID: Schema.String },
  query: { ...actingAs, dryRun: Schema.optionalKey(BooleanText) },
  output: { type: "json", schema: DeleteSourceResponse },
  statuses: { 200: "the source was deleted; with dryRun: what would be deleted and what would stay", ...sourceStatuses },
  handle: ({ path, query, user }) =>
    Effect.gen(function* () {
      const source = yield* visibleSource(path.sourceID, { user, query })
      const planned = query.dryRun === true
      return deleteSourceResponse(yield* planned ? useOfSource(source) : removeSource(source, user.id), planned)
    }),
})
