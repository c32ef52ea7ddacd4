import { Groups } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { renderedRanges } from "../range/rendered-ranges.ts"
import { RangeObject } from "../wire/range-object.ts"

export const listGroupRanges = operation({
  id: "listGroupRanges",
  route: "GET /groups/{groupName}/ranges",
  group: "Group",
  does: "list the ranges of groups",
  summary: "Ranges of a group with their machines",
  access: "admin",
  alsoFor: "group-manager",
  accessNote: "managers of the group too",
  target: "group-in-path",
  path: { groupName: Schema.String },
  output: { type: "prepared-json", schema: Schema.Array(RangeObject) },
  statuses: { 200: "the ranges, ascending by number" },
  handle: ({ group }) =>
    Effect.gen(function* () {
      const groups = yield* Groups
      return yield* renderedRanges(new Set(yield* groups.ranges(group.name)), "of-group")
    }),
})
