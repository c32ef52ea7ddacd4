import { Groups } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"

export const removeGroupNotice = operation({
  id: "removeGroupNotice",
  route: "DELETE /groups/{groupName}/notice",
  group: "Group",
  origin: "ours",
  does: "take down the notice of a group",
  summary: "Take down the notice of a group before it ends",
  access: "group-manager",
  accessNote: "managers of the group and administrators",
  target: "group-in-path",
  path: { groupName: Schema.String },
  output: { type: "json", schema: TextResult },
  statuses: { 200: "the group has no notice" },
  handle: ({ group }) =>
    Effect.gen(function* () {
      const groups = yield* Groups
      yield* groups.removeNotice(group.name)
      return { result: `Group ${group.name} has no notice` }
    }),
})
