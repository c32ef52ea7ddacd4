import { Conflict, isUserId, rootUserId, type Session, UserNotFound, type UserId } from "@rangewright/domain"
import { tokenDays, TokenSigner, Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { InvitesResult, itemsOf, reasonOf } from "../wire/bulk.ts"

const mostUsers = 1000
const day = 86_400_000

/** The token follows `#`: browsers do not send that part to servers, so no log contains it. */
const addressOf = (userId: UserId, token: string): string => `/ui/invite?user=${encodeURIComponent(userId)}#${token}`

const invite = (userID: string, session: Session | undefined, now: Date) =>
  Effect.gen(function* () {
    const users = yield* Users
    const signer = yield* TokenSigner
    const found = isUserId(userID) ? yield* users.forAuthentication(userID) : undefined
    if (found === undefined) return yield* new UserNotFound({ userId: userID })
    const { user, secrets } = found
    if (user.id === rootUserId) return yield* new Conflict({ what: "ROOT cannot be invited: it has no password" })
    // it would set the password without the current one
    if (user.id === session?.userId)
      return yield* new Conflict({
        what: `${user.id} cannot be invited: with a session, administrators cannot invite themselves`,
        hint: "Change your password with the current one (POST /user/credentials), or ask another administrator.",
      })
    const subject = { userId: user.id, recordId: user.recordId, tokenKey: secrets.tokenKey }
    return {
      userID: user.id,
      name: user.name,
      email: user.email,
      address: addressOf(user.id, yield* signer.sign(subject, "invite", now)),
      endsAt: new Date(now.getTime() + tokenDays * day).toISOString(),
    }
  })

/** Nothing is stored: a link becomes invalid when its user's password is set, by it or otherwise. */
export const createInvites = operation({
  id: "createInvites",
  route: "POST /user/invites",
  group: "User",
  origin: "ours",
  does: "invite users",
  summary: "A link for each user, with which they set their password once and sign in",
  access: "admin",
  target: "none",
  wholeKeyOnly: true,
  audited: ["userIDs"],
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({ userIDs: Schema.Array(Schema.String).check(Schema.isMaxLength(mostUsers)) }),
  },
  output: { type: "json", schema: InvitesResult },
  statuses: {
    200: "the links, which are shown only now, and why there is none for the other users",
    400: `the body is malformed; no user is named, or more than ${mostUsers}`,
  },
  handle: ({ body: { userIDs }, session }) =>
    Effect.gen(function* () {
      const now = new Date(yield* Clock.currentTimeMillis)
      const items = yield* itemsOf("invite users", "userIDs", userIDs)
      const outcomes = yield* Effect.forEach(items, (item) =>
        Effect.map(Effect.result(invite(item, session, now)), (result) => ({ item, result })),
      )
      const invites = outcomes.flatMap(({ result }) => (Result.isSuccess(result) ? [result.success] : []))
      const errors = outcomes.flatMap(({ item, result }) =>
        Result.isFailure(result) ? [{ item: item.slice(0, 100), reason: reasonOf(result.failure) }] : [],
      )
      return { ...(invites.length === 0 ? {} : { invites }), ...(errors.length === 0 ? {} : { errors }) }
    }),
})
