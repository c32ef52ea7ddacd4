import { blueprintAccess } from "@rangewright/domain"
import { Blueprints } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { groupsOf } from "../blueprint/find-blueprint.ts"
import { operation } from "../operation/operation.ts"
import { BlueprintListItem, blueprintListItem } from "../wire/blueprint.ts"
import { userStatuses } from "../wire/statuses.ts"

export const listBlueprints = operation({
  id: "listBlueprints",
  route: "GET /blueprints",
  group: "Blueprint",
  summary: "Blueprints that the user may read",
  access: "user",
  accessNote: "only blueprints that the user can read",
  target: "none",
  query: { "from-source": Schema.optionalKey(Schema.String), tag: Schema.optionalKey(Schema.String) },
  output: { type: "json", schema: Schema.Array(BlueprintListItem) },
  statuses: { 200: "the last changed first; none where from-source is not the ID of a source", ...userStatuses },
  handle: ({ query, user }) =>
    Effect.gen(function* () {
      // no blueprint here comes from a source
      if (query["from-source"] !== undefined) return []
      const groups = yield* groupsOf(user)
      const found = yield* (yield* Blueprints).list(user.isAdmin ? {} : { for: user.id })
      return found.flatMap((blueprint) => {
        const access = blueprintAccess(blueprint, user, groups)
        const wanted = query.tag === undefined || blueprint.tags.includes(query.tag)
        return access === undefined || !wanted ? [] : [blueprintListItem(blueprint, access)]
      })
    }),
})
