import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readableBlueprint } from "../blueprint/find-blueprint.ts"
import { changeGroupsOfBlueprint } from "../blueprint/share.ts"
import { operation } from "../operation/operation.ts"
import { BulkResult, bulkResult, itemsOf } from "../wire/bulk.ts"
import { commaList } from "../wire/parameters.ts"
import { blueprintStatuses } from "../wire/statuses.ts"

export const shareBlueprintWithGroups = operation({
  id: "shareBlueprintWithGroups",
  route: "POST /blueprints/{blueprintID}/share/groups",
  group: "Blueprint",
  summary: "Share a blueprint with all members and managers of groups",
  access: "user",
  accessNote: "who may read it; for each entry managers of the group, and administrators",
  target: "none",
  path: { blueprintID: Schema.String },
  body: { type: "json", required: true, schema: Schema.Struct({ groupNames: Schema.Array(Schema.String) }) },
  output: { type: "json", schema: BulkResult },
  statuses: {
    200: "what became of each entry, also when all were refused",
    ...blueprintStatuses,
    400: "the list is missing or empty; the body is malformed; userID names an unknown user",
  },
  handle: ({ path, body, user }) =>
    Effect.gen(function* () {
      const blueprint = yield* readableBlueprint(path.blueprintID, user)
      const items = yield* itemsOf(`share blueprint ${blueprint.id}`, "groupNames", body.groupNames.flatMap(commaList))
      return bulkResult(yield* changeGroupsOfBlueprint("share", blueprint, items, user))
    }),
})
