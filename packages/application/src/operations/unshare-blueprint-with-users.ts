import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readableBlueprint } from "../blueprint/find-blueprint.ts"
import { changeUsersOfBlueprint } from "../blueprint/share.ts"
import { shareFrame } from "../blueprint/share-frame.ts"
import { operation } from "../operation/operation.ts"
import { bulkResult, itemsOf } from "../wire/bulk.ts"
import { commaList } from "../wire/parameters.ts"

export const unshareBlueprintWithUsers = operation({
  ...shareFrame,
  id: "unshareBlueprintWithUsers",
  route: "DELETE /blueprints/{blueprintID}/share/users",
  does: "stop sharing a blueprint with users",
  summary: "Stop sharing a blueprint with users; copies that they made stay theirs",
  accessNote: "who may read it; for each entry managers of a group that the user is in, and administrators",
  body: { type: "json", required: true, schema: Schema.Struct({ userIDs: Schema.Array(Schema.String) }) },
  audited: ["userIDs"],
  handle: ({ path, body, user }) =>
    Effect.gen(function* () {
      const blueprint = yield* readableBlueprint(path.blueprintID, user)
      const items = yield* itemsOf(`unshare blueprint ${blueprint.id}`, "userIDs", body.userIDs.flatMap(commaList))
      return bulkResult(yield* changeUsersOfBlueprint("unshare", blueprint, items, user))
    }),
})
