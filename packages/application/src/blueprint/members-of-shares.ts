import type { Blueprint } from "@rangewright/domain"
import { Groups } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** The members of each group that the blueprint is shared with, ascending by the group's name. */
export const membersOfShares = ({ sharedGroups }: Blueprint) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    return new Map(
      yield* Effect.forEach(sharedGroups, (name) => Effect.map(groups.members(name), (people) => [name, people] as const)),
    )
  })
