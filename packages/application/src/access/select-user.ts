import { InvalidInput, isUserId, Unauthenticated, type User } from "@rangewright/domain"
import { Users, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** Hint for callers without administrator rights. */
export const askAnAdministrator = "Ask an administrator."

/** The user named by an administrator. */
const named = Effect.fnUntraced(function* (
  caller: User,
  userId: string,
): Effect.fn.Return<User, Unauthenticated | InvalidInput | StorageFault, Users> {
  if (!caller.isAdmin)
    return yield* new Unauthenticated({
      reason: "You are not an admin and cannot impersonate other users",
      hint: "Leave out userID (--user on the command line), or ask an administrator.",
    })
  const users = yield* Users
  const user = isUserId(userId) ? yield* users.find(userId) : undefined
  return user ?? (yield* new InvalidInput({ what: "Cannot act as the user named by userID: there is no such user" }))
})

/**
 * The user acted as: the caller, or the one that an administrator names with `?userID=`. For a caller who is not an administrator, naming
 * another user fails as unauthenticated; an unknown user fails as invalid. Existing clients tell the cases apart by 401 and 400, and match
 * the text.
 */
export const selectUser = (
  caller: User,
  userId: string | undefined,
): Effect.Effect<User, Unauthenticated | InvalidInput | StorageFault, Users> =>
  userId === undefined || userId === caller.id ? Effect.succeed(caller) : named(caller, userId)
