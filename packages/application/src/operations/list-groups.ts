import { Groups } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { GroupObject, groupObject } from "../wire/group.ts"

export const listGroups = operation({
  id: "listGroups",
  route: "GET /groups",
  group: "Group",
  does: "list groups",
  summary: "Groups, and how much belongs to each",
  access: "user",
  accessNote: "administrators see all, others those they are in",
  target: "none",
  output: { type: "json", schema: Schema.Array(GroupObject) },
  statuses: { 200: "the groups, ascending by name" },
  handle: ({ caller, user }) =>
    Effect.gen(function* () {
      const groupStore = yield* Groups
      // what an administrator sees does not depend on whom they act as
      const groups = yield* groupStore.list(caller.isAdmin ? {} : { for: user.id })
      return groups.map(groupObject)
    }),
})
