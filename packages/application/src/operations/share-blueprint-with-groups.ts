import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readableBlueprint } from "../blueprint/find-blueprint.ts"
import { changeGroupsOfBlueprint } from "../blueprint/share.ts"
import { shareFrame } from "../blueprint/share-frame.ts"
import { operation } from "../operation/operation.ts"
import { bulkResult, itemsOf } from "../wire/bulk.ts"
import { commaList } from "../wire/parameters.ts"

export const shareBlueprintWithGroups = operation({
  ...shareFrame,
  id: "shareBlueprintWithGroups",
  route: "POST /blueprints/{blueprintID}/share/groups",
  does: "share a blueprint with groups",
  summary: "Share a blueprint with all members and managers of groups",
  accessNote: "who may read it; for each entry managers of the group, and administrators",
  body: { type: "json", required: true, schema: Schema.Struct({ groupNames: Schema.Array(Schema.String) }) },
  audited: ["groupNames"],
  handle: ({ path, body, user }) =>
    Effect.gen(function* () {
      const blueprint = yield* readableBlueprint(path.blueprintID, user)
      const items = yield* itemsOf(`share blueprint ${blueprint.id}`, "groupNames", body.groupNames.flatMap(commaList))
      return bulkResult(yield* changeGroupsOfBlueprint("share", blueprint, items, user))
    }),
})
