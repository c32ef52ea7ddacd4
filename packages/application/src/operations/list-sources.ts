import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { actingAs, visibleSources } from "../source/visible-source.ts"
import { SourceResponse, sourceResponse } from "../wire/source.ts"

export const listSources = operation({
  id: "listSources",
  route: "GET /sources",
  group: "Sources",
  does: "list sources",
  summary: "List your sources, newest first; administrators see everybody's",
  access: "user",
  target: "none",
  query: actingAs,
  output: { type: "json", schema: Schema.Array(SourceResponse) },
  statuses: { 200: "the sources" },
  handle: ({ query, user }) => Effect.map(visibleSources({ user, query }), (sources) => sources.map(sourceResponse)),
})
