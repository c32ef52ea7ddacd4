import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readableBlueprint } from "../blueprint/find-blueprint.ts"
import { membersOfShares } from "../blueprint/members-of-shares.ts"
import { operation } from "../operation/operation.ts"
import { BlueprintAccessGroup, blueprintAccessGroup } from "../wire/blueprint.ts"
import { blueprintStatuses } from "../wire/statuses.ts"

export const listBlueprintAccessGroups = operation({
  id: "listBlueprintAccessGroups",
  route: "GET /blueprints/{blueprintID}/access/groups",
  group: "Blueprint",
  does: "list the groups that a blueprint is shared with",
  summary: "The groups that a blueprint is shared with, and who is in them",
  access: "user",
  accessNote: "its owner, those it is shared with, and administrators",
  target: "none",
  path: { blueprintID: Schema.String },
  output: { type: "json", schema: Schema.Array(BlueprintAccessGroup) },
  statuses: { 200: "the groups, ascending by name", ...blueprintStatuses },
  handle: ({ path, user }) =>
    Effect.gen(function* () {
      const members = yield* membersOfShares(yield* readableBlueprint(path.blueprintID, user))
      return [...members].map(([name, people]) => blueprintAccessGroup(name, people))
    }),
})
