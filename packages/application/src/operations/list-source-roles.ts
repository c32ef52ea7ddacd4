import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { claimedItems } from "../source/claimed-items.ts"
import { listFrame } from "../source/list-frame.ts"
import { visibleSource } from "../source/visible-source.ts"
import { ListSourceRolesResponseItem, sourceItem } from "../wire/source-items.ts"
import { sourceStatuses } from "../wire/statuses.ts"

export const listSourceRoles = operation({
  id: "listSourceRoles",
  route: "GET /sources/{sourceID}/roles",
  ...listFrame,
  does: "list the roles of a source",
  summary: "The roles that were installed from a source, and those that its blueprints brought from elsewhere",
  output: { type: "json", schema: Schema.Array(ListSourceRolesResponseItem) },
  statuses: { 200: "the roles, ascending by name", ...sourceStatuses },
  handle: ({ path, query, user }) =>
    Effect.gen(function* () {
      const source = yield* visibleSource(path.sourceID, { user, query })
      const claims = yield* claimedItems(source, ["local-role", "galaxy-role"])
      return claims.map((claim) => ({ ...sourceItem(claim), scope: claim.kind === "local-role" ? "local" : "galaxy" }) as const)
    }),
})
