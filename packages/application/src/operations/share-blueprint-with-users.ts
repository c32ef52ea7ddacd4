import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readableBlueprint } from "../blueprint/find-blueprint.ts"
import { changeUsersOfBlueprint } from "../blueprint/share.ts"
import { shareFrame } from "../blueprint/share-frame.ts"
import { operation } from "../operation/operation.ts"
import { bulkResult, itemsOf } from "../wire/bulk.ts"
import { commaList } from "../wire/parameters.ts"

export const shareBlueprintWithUsers = operation({
  ...shareFrame,
  id: "shareBlueprintWithUsers",
  route: "POST /blueprints/{blueprintID}/share/users",
  does: "share a blueprint with users",
  summary: "Share a blueprint with users, who may then read, copy and apply it",
  accessNote: "who may read it; for each entry managers of a group that the user is in, and administrators",
  body: { type: "json", required: true, schema: Schema.Struct({ userIDs: Schema.Array(Schema.String) }) },
  audited: ["userIDs"],
  handle: ({ path, body, user }) =>
    Effect.gen(function* () {
      const blueprint = yield* readableBlueprint(path.blueprintID, user)
      const items = yield* itemsOf(`share blueprint ${blueprint.id}`, "userIDs", body.userIDs.flatMap(commaList))
      return bulkResult(yield* changeUsersOfBlueprint("share", blueprint, items, user))
    }),
})
