import { InvalidInput, type FaultIssue } from "@rangewright/domain"
import { CredentialHasher, SecretStore, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { passwordContext } from "../../accounts/identity.ts"
import { operation } from "../../operation/operation.ts"
import { AuthResult, authResult } from "../../wire/auth-result.ts"

const refused = (issues: readonly FaultIssue[] = []) => new InvalidInput({ what: "Failed to authenticate.", issues })

/** Login with e-mail address and password for a token of seven days. Every failure reads the same, whoever the user is. */
export const recordLogin = operation({
  id: "recordLogin",
  route: "POST /api/collections/users/auth-with-password",
  base: "/",
  group: "User",
  origin: "page",
  summary: "Log in with e-mail address and password",
  access: "anonymous",
  target: "none",
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({ identity: Schema.String, password: Schema.String, identityField: Schema.optionalKey(Schema.String) }),
  },
  output: { type: "json", schema: AuthResult },
  statuses: { 200: "a token, and the user's record", 400: "e-mail address or password is wrong; a field is not valid" },
  handle: ({ body }) =>
    Effect.gen(function* () {
      const blank = (["identity", "password"] as const).filter((field) => body[field] === "" || body[field].length > 255)
      if (blank.length > 0)
        return yield* Effect.fail(refused(blank.map((path) => ({ path, message: "1 to 255 characters are needed" }))))
      const users = yield* Users
      const hasher = yield* CredentialHasher
      const user = yield* users.findByEmail(body.identity)
      const secrets = user === undefined ? undefined : (yield* users.forAuthentication(user.id))?.secrets
      if (user === undefined || secrets?.sealedPassword === undefined) return yield* Effect.fail(refused())
      const password = yield* (yield* SecretStore).open(secrets.sealedPassword, passwordContext(user.id))
      if (!hasher.equal(password, body.password)) return yield* Effect.fail(refused())
      return yield* authResult(user)
    }),
})
