import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { claimedItems } from "../source/claimed-items.ts"
import { listFrame } from "../source/list-frame.ts"
import { visibleSource } from "../source/visible-source.ts"
import { neededTemplates } from "../template/needed-templates.ts"
import { ListSourceTemplatesItem, sourceItem } from "../wire/source-items.ts"
import { sourceStatuses } from "../wire/statuses.ts"

export const listSourceTemplates = operation({
  id: "listSourceTemplates",
  route: "GET /sources/{sourceID}/templates",
  ...listFrame,
  does: "list the templates of a source",
  summary: "The templates that were installed from a source, and whether they are built",
  output: { type: "json", schema: Schema.Array(ListSourceTemplatesItem) },
  statuses: { 200: "the templates, ascending by name", ...sourceStatuses },
  handle: ({ path, query, user }) =>
    Effect.gen(function* () {
      const source = yield* visibleSource(path.sourceID, { user, query })
      const needed = yield* neededTemplates(user)
      return (yield* claimedItems(source, ["template"])).map((claim) => ({
        ...sourceItem(claim),
        status: needed(claim.name).status,
      }))
    }),
})
