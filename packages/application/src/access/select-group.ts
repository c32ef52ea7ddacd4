import { Forbidden, type Group, GroupNotFound, isGroupName, mayManage, type User } from "@rangewright/domain"
import { Groups, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Operation } from "../operation/operation.ts"

/**
 * The group named in the path; fails unless it exists and may be managed. Where an operation asks for administrators, the caller's own
 * rights count; where it asks for managers, those of the user acted as. Scripts match the text of the refusal.
 */
export const selectGroup = Effect.fnUntraced(function* (
  operation: Operation,
  caller: User,
  user: User,
  name: string,
): Effect.fn.Return<Group, GroupNotFound | Forbidden | StorageFault, Groups> {
  const groups = yield* Groups
  const group = isGroupName(name) ? yield* groups.find(name) : undefined
  if (group === undefined) return yield* new GroupNotFound({ group: name.slice(0, 64) })
  if (operation.access === "admin" && caller.isAdmin) return group
  if (mayManage(user, yield* groups.roleOf(group.name, user.id))) return group
  return yield* new Forbidden({
    reason: `You are not a manager of this group: ${group.name}`,
    hint: "Ask one of its managers or an administrator.",
  })
})
