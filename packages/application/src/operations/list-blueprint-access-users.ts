import { blueprintReaders } from "@rangewright/domain"
import { Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readableBlueprint } from "../blueprint/find-blueprint.ts"
import { membersOfShares } from "../blueprint/members-of-shares.ts"
import { operation } from "../operation/operation.ts"
import { BlueprintAccessUser, blueprintAccessUser } from "../wire/blueprint.ts"
import { blueprintStatuses } from "../wire/statuses.ts"

export const listBlueprintAccessUsers = operation({
  id: "listBlueprintAccessUsers",
  route: "GET /blueprints/{blueprintID}/access/users",
  group: "Blueprint",
  does: "list the users that a blueprint is shared with",
  summary: "Who may read a blueprint without being an administrator, and why",
  access: "user",
  accessNote: "its owner, those it is shared with, and administrators",
  target: "none",
  path: { blueprintID: Schema.String },
  output: { type: "json", schema: Schema.Array(BlueprintAccessUser) },
  statuses: { 200: "the users, ascending by ID", ...blueprintStatuses },
  handle: ({ path, user }) =>
    Effect.gen(function* () {
      const users = yield* Users
      const blueprint = yield* readableBlueprint(path.blueprintID, user)
      const names = new Map((yield* users.list).map(({ id, name }) => [id, name]))
      const readers = blueprintReaders(blueprint, yield* membersOfShares(blueprint))
      return readers.map((reader) => blueprintAccessUser(reader, names.get(reader.userId) ?? ""))
    }),
})
