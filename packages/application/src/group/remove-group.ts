import type { Group, User } from "@rangewright/domain"
import { Blueprints, Groups } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { changeAccess } from "../range/change-access.ts"
import { rangesOfGroup } from "./change-together.ts"
import { usersOfGroup } from "./ranges.ts"

/**
 * Removes a group, and the rights that its users had by it alone. A router that cannot be told keeps no group alive: it learns it by its
 * range's next deploy. Returns the ranges of these routers. When the hypervisor fails the group stays as it was.
 */
export const removeGroup = (group: Group, caller: User) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    const roles = new Map((yield* groups.members(group.name)).map(({ userId, role }) => [userId, role]))
    const ranges = yield* rangesOfGroup(group)
    const blueprints = yield* Blueprints
    const shared = (yield* blueprints.list()).filter(({ sharedGroups }) => sharedGroups.includes(group.name))
    return yield* changeAccess({
      doing: `delete group ${group.name}`,
      by: caller.id,
      kind: "take",
      users: yield* usersOfGroup(group),
      ranges,
      store: groups.remove(group.name),
      undo: groups
        .create(group)
        .pipe(
          Effect.andThen(groups.setRoles(group.name, roles)),
          Effect.andThen(Effect.forEach(ranges, (range) => groups.addRange(group.name, range.id))),
          Effect.andThen(Effect.forEach(shared, ({ id }) => blueprints.shareWithGroup(id, group.name))),
        ),
      routers: "may",
    })
  })
