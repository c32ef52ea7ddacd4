import { blueprintAccess, isSourceId } from "@rangewright/domain"
import { Blueprints, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { groupsOf } from "../blueprint/find-blueprint.ts"
import { operation } from "../operation/operation.ts"
import { BlueprintListItem, blueprintListItem } from "../wire/blueprint.ts"

export const listBlueprints = operation({
  id: "listBlueprints",
  route: "GET /blueprints",
  group: "Blueprint",
  does: "list blueprints",
  summary: "Blueprints that the user may read",
  access: "user",
  accessNote: "only blueprints that the user can read",
  target: "none",
  query: { "from-source": Schema.optionalKey(Schema.String), tag: Schema.optionalKey(Schema.String) },
  output: { type: "json", schema: Schema.Array(BlueprintListItem) },
  statuses: { 200: "most recently changed first; empty if from-source is not the ID of a source" },
  handle: ({ query, user }) =>
    Effect.gen(function* () {
      const sources = yield* Sources
      const blueprints = yield* Blueprints
      const wanted = query["from-source"]
      const ofSource =
        wanted === undefined ? undefined : yield* isSourceId(wanted) ? sources.find(wanted) : Effect.succeed(undefined)
      if (wanted !== undefined && ofSource === undefined) return []
      const groups = yield* groupsOf(user)
      const found = yield* blueprints.list({
        ...(user.isAdmin ? {} : { for: user.id }),
        ...(ofSource === undefined ? {} : { ofSource: ofSource.recordId }),
      })
      const ids = new Map(
        found.some(({ origin }) => origin !== undefined) ? (yield* sources.list()).map(({ recordId, id }) => [recordId, id]) : [],
      )
      return found.flatMap((blueprint) => {
        const access = blueprintAccess(blueprint, user, groups)
        const tagged = query.tag === undefined || blueprint.tags.includes(query.tag)
        const { origin } = blueprint
        return access === undefined || !tagged ? [] : [blueprintListItem(blueprint, access, origin && ids.get(origin.source))]
      })
    }),
})
