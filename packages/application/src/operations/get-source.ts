import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { actingAs, visibleSource } from "../source/visible-source.ts"
import { SourceResponse, sourceResponse } from "../wire/source.ts"
import { sourceStatuses } from "../wire/statuses.ts"

export const getSource = operation({
  id: "getSource",
  route: "GET /sources/{sourceID}",
  group: "Sources",
  does: "read a source",
  summary: "A source: where it comes from, how it describes itself, how its last sync ended",
  access: "user",
  accessNote: "its owner and administrators",
  target: "none",
  path: { sourceID: Schema.String },
  query: actingAs,
  output: { type: "json", schema: SourceResponse },
  statuses: { 200: "the source", ...sourceStatuses },
  handle: ({ path, query, user }) => Effect.map(visibleSource(path.sourceID, { user, query }), sourceResponse),
})
