import { NotFound } from "@rangewright/domain"
import { Identities, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { newTokenKey } from "../accounts/identity.ts"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"

/** Somebody else may have been signing in through the link, so their sessions and tokens are ended too, as with a new password. */
export const unlinkIdentity = operation({
  id: "unlinkIdentity",
  route: "DELETE /user/identity",
  group: "User",
  origin: "ours",
  does: "disconnect a user from the identity provider",
  summary: "Disconnect the user from the identity provider, and end their sessions, tokens and scoped keys",
  access: "user",
  target: "none",
  wholeKeyOnly: true,
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "nobody can sign in as the user through the provider any more",
    404: "the user is not connected to anybody at the provider",
  },
  handle: ({ user }) =>
    Effect.gen(function* () {
      const identities = yield* Identities
      const users = yield* Users
      const removed = yield* identities.unlink(user.id)
      if (removed === 0)
        return yield* new NotFound({ what: `User ${user.id} is not connected to anybody at the identity provider` })
      // must follow the removal of the link: `signInPerson` relies on it
      yield* users.setSecrets(user.id, { tokenKey: yield* newTokenKey })
      return { result: `User ${user.id} is disconnected; their sessions, tokens and scoped keys have ended` }
    }),
})
