import { type Group, GroupNotFound, type User } from "@rangewright/domain"
import { Groups } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { changeAccess } from "../range/change-access.ts"
import { rangesOfGroup } from "./change-together.ts"
import { usersOfGroup } from "./ranges.ts"

/**
 * Removes a group, and the rights that its users had by it alone. A router that cannot be told keeps no group alive: it is told as soon as it can
 * be. Returns the ranges of these routers. The group is gone also when the hypervisor does not take the rights yet: `RevocationPending`.
 */
export const removeGroup = (group: Group, caller: User) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    const ranges = yield* rangesOfGroup(group)
    const users = yield* usersOfGroup(group)
    // removed by somebody else meanwhile: what its users lost by that is not this one's to call done
    if ((yield* groups.find(group.name)) === undefined) return yield* new GroupNotFound({ group: group.name })
    return yield* changeAccess({
      doing: `delete group ${group.name}`,
      by: caller.id,
      users,
      ranges,
      store: groups.remove(group.name),
      undo: undefined,
      routers: "may",
    })
  })
