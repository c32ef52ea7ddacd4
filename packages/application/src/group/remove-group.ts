import { type Group, GroupNotFound, type User } from "@rangewright/domain"
import { Groups } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { changeAccess } from "../range/change-access.ts"
import { rangesOfGroup } from "./change-together.ts"
import { usersOfGroup } from "./ranges.ts"

/**
 * Removes a group, and the rights that its users had only through it. A router that cannot be updated does not block this: it is updated as
 * soon as possible. Returns the ranges of these routers. The group is removed even when the hypervisor does not revoke the rights yet:
 * `RevocationPending`.
 */
export const removeGroup = (group: Group, caller: User) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    const ranges = yield* rangesOfGroup(group)
    const users = yield* usersOfGroup(group)
    // removed by somebody else meanwhile: this call cannot report the revocation of its users' rights as done
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
