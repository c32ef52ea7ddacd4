import type { User } from "@rangewright/domain"
import { TokenSigner, Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AnyObject } from "./common.ts"
import { recordOfUser } from "../accounts/user-record.ts"
import { UserRecord } from "./user.ts"

export const AuthResult = Schema.Struct({
  record: UserRecord,
  token: Schema.String,
  meta: Schema.optionalKey(AnyObject),
}).annotate({ identifier: "AuthResult" })

/** A new token for the user, with the user's record. */
export const authResult = (user: User) =>
  Effect.gen(function* () {
    const users = yield* Users
    const signer = yield* TokenSigner
    const found = yield* users.forAuthentication(user.id)
    const token = yield* signer.sign(
      { userId: user.id, recordId: user.recordId, tokenKey: found?.secrets.tokenKey ?? "" },
      "auth",
      new Date(yield* Clock.currentTimeMillis),
    )
    return { record: yield* recordOfUser(user, { withEmail: true }), token }
  })
