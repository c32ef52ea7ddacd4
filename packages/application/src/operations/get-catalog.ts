import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { asFailure } from "../source/content-refused.ts"
import { actingAs, visibleSources } from "../source/visible-source.ts"
import { wholeCatalog } from "../source/whole-catalog.ts"
import { WholeCatalogResponse, wholeCatalogResponse } from "../wire/whole-catalog.ts"

export const getCatalog = operation({
  id: "getCatalog",
  route: "GET /catalog",
  group: "Sources",
  origin: "ours",
  does: "read the catalog of all sources",
  summary: "What all your sources ship, each item with its state and where it is from; administrators see everybody's sources",
  access: "user",
  target: "none",
  query: actingAs,
  output: { type: "prepared-json", schema: WholeCatalogResponse },
  statuses: { 200: "the items; a source that cannot be read says why" },
  handle: ({ query, user }) =>
    Effect.gen(function* () {
      const sources = yield* visibleSources({ user, query })
      return JSON.stringify(wholeCatalogResponse(yield* Effect.mapError(wholeCatalog(sources, user), asFailure)))
    }),
})
