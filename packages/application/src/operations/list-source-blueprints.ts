import { Blueprints } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { listFrame } from "../source/list-frame.ts"
import { visibleSource } from "../source/visible-source.ts"
import { SourceBlueprintListItem, sourceBlueprintItem } from "../wire/source-items.ts"
import { sourceStatuses } from "../wire/statuses.ts"

export const listSourceBlueprints = operation({
  id: "listSourceBlueprints",
  route: "GET /sources/{sourceID}/blueprints",
  ...listFrame,
  does: "list the blueprints of a source",
  summary: "The blueprints that were installed from a source",
  output: { type: "json", schema: Schema.Array(SourceBlueprintListItem) },
  statuses: { 200: "the blueprints, ascending by their IDs in the source", ...sourceStatuses },
  handle: ({ path, query, user }) =>
    Effect.gen(function* () {
      const blueprints = yield* Blueprints
      const source = yield* visibleSource(path.sourceID, { user, query })
      const rows = yield* blueprints.list({ ofSource: source.recordId })
      return rows
        .flatMap((row) => (row.origin === undefined ? [] : [sourceBlueprintItem(source, row.origin.sourceBlueprintID, row)]))
        .toSorted((a, b) => (a.sourceBlueprintID < b.sourceBlueprintID ? -1 : 1))
    }),
})
