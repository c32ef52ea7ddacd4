import { InvalidInput, type FaultIssue } from "@rangewright/domain"
import { Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { isPasswordOf } from "../../accounts/is-password-of.ts"
import { operation } from "../../operation/operation.ts"
import { recordSignIn } from "../../sign-in/record-sign-in.ts"
import { SignIns } from "../../sign-in/sign-ins.ts"
import { AuthResult, authResult } from "../../wire/auth-result.ts"

const refused = (issues: readonly FaultIssue[] = []) => new InvalidInput({ what: "Failed to authenticate.", issues })

const judge = (email: string, password: string) =>
  Effect.gen(function* () {
    const users = yield* Users
    const user = yield* users.findByEmail(email)
    return { user, right: yield* isPasswordOf(user, password) }
  })

/** Login with e-mail address and password for a token that lasts seven days. Every failure has the same text, whoever the user is. */
export const recordLogin = operation({
  id: "recordLogin",
  route: "POST /api/collections/users/auth-with-password",
  base: "/",
  group: "User",
  origin: "page",
  does: "log in",
  summary: "Log in with e-mail address and password",
  access: "anonymous",
  target: "none",
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({ identity: Schema.String, password: Schema.String, identityField: Schema.optionalKey(Schema.String) }),
  },
  output: { type: "json", schema: AuthResult },
  statuses: {
    200: "a token, and the user's record",
    400: "e-mail address or password is wrong; a field is not valid",
    429: "too many wrong passwords came before; Retry-After says how many seconds to wait",
  },
  handle: ({ body, meta }) =>
    Effect.gen(function* () {
      const signIns = yield* SignIns
      const blank = (["identity", "password"] as const).filter((field) => body[field] === "" || body[field].length > 255)
      if (blank.length > 0) return yield* refused(blank.map((path) => ({ path, message: "1 to 255 characters are needed" })))
      const attempt = { operation: "recordLogin", account: body.identity, address: meta.remote }
      const user = (yield* signIns.attempt(attempt, judge(body.identity, body.password)))?.user
      if (user === undefined) return yield* refused()
      const result = yield* authResult(user)
      yield* recordSignIn("recordLogin", user, meta)
      return result
    }),
})
