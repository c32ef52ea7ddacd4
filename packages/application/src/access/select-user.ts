import { InvalidInput, isUserId, Unauthenticated, type User } from "@rangewright/domain"
import { Users, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/**
 * The user acted as: the caller, or whom an administrator names by `?userID=` (contract A 4.1). Another user named by anybody else is
 * refused as unauthenticated, an unknown one as invalid: existing clients tell the cases by 401 and 400.
 */
export const selectUser = Effect.fnUntraced(function* (
  caller: User,
  userId: string | undefined,
): Effect.fn.Return<User, Unauthenticated | InvalidInput | StorageFault, Users> {
  if (userId === undefined || userId === caller.id) return caller
  if (!caller.isAdmin)
    return yield* new Unauthenticated({ reason: `Only administrators may impersonate: ${caller.id} cannot act as another user` })
  const user = isUserId(userId) ? yield* (yield* Users).find(userId) : undefined
  return user ?? (yield* new InvalidInput({ what: "Cannot act as the user named by userID: there is no such user" }))
})
