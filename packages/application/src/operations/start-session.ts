import { isUserId, rootUserId, Unauthenticated } from "@rangewright/domain"
import { CodeRefused, CredentialHasher, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { authenticate } from "../access/credentials.ts"
import { setPassword } from "../accounts/change-password.ts"
import { isPasswordOf } from "../accounts/is-password-of.ts"
import { operation, type RequestMeta } from "../operation/operation.ts"
import { Invitation, invitedBy, refusedInvite } from "../sign-in/invitation.ts"
import { recordSignIn } from "../sign-in/record-sign-in.ts"
import { personOnPage, ProviderAnswer } from "../sign-in/provider-answer.ts"
import { beginSession } from "../sign-in/session.ts"
import { SignIns } from "../sign-in/sign-ins.ts"
import { signInPerson } from "../sign-in/user-of-person.ts"
import { signedIn, SignedIn } from "../wire/session.ts"

const id = "startSession"
const Given = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(255))
const password = { password: Given }

const refused = new Unauthenticated({
  reason: "The e-mail address, user ID or password is wrong",
  hint: "Ask an administrator for an invitation: with it you set a new password.",
})
const refusedKey = new Unauthenticated({ reason: "The API key is not valid", hint: "An administrator can give you a new key." })

/** Attempts are counted under the e-mail address, so that knowing both names gives no additional guesses. */
const byPassword = Effect.fnUntraced(function* (
  sent: { readonly email: string } | { readonly userID: string },
  secret: string,
  meta: RequestMeta,
) {
  const users = yield* Users
  const signIns = yield* SignIns
  const user = yield* "email" in sent
    ? users.findByEmail(sent.email)
    : isUserId(sent.userID)
      ? users.find(sent.userID)
      : Effect.succeed(undefined)
  const name = "email" in sent ? sent.email : sent.userID
  const account = user === undefined || user.email === "" ? name : user.email
  // read before the check: if it is still stored when the session begins, it is what was checked
  const seen = yield* users.forAuthentication(user?.id ?? rootUserId)
  const judge = Effect.map(isPasswordOf(user, secret), (right) => ({ user, right }))
  const found = (yield* signIns.attempt({ operation: id, account, address: meta.remote }, judge))?.user
  if (found === undefined) return yield* refused
  const begun = yield* beginSession(found, { sealedPassword: seen?.secrets.sealedPassword }, meta)
  return begun === undefined ? yield* refused : { user: found, detail: "", ...begun }
})

/** A session has all rights of its user, so a scoped key cannot begin one. */
const byKey = Effect.fnUntraced(function* (apiKey: string, meta: RequestMeta) {
  const users = yield* Users
  const identity = yield* authenticate({ apiKey, authorization: undefined }).pipe(
    Effect.mapError((fault) => (fault.kind === "unauthenticated" ? refusedKey : fault)),
  )
  if (identity === undefined || identity.key !== undefined) return yield* refusedKey
  const { user } = identity
  // read again: the hash of an imported key may just have been replaced
  const hash = (yield* users.forAuthentication(user.id))?.secrets.apiKeyHash ?? ""
  const hasher = yield* CredentialHasher
  if (!hasher.verify(apiKey, hash) && !(yield* hasher.verifyFirstGeneration(apiKey, hash))) return yield* refusedKey
  const begun = yield* beginSession(user, { apiKeyHash: hash }, meta)
  return begun === undefined ? yield* refusedKey : { user, detail: "", ...begun }
})

/** An invitation is used up by the password that it sets. */
const byInvite = Effect.fnUntraced(function* (invite: string, secret: string, meta: RequestMeta) {
  const users = yield* Users
  const { user } = yield* invitedBy(invite)
  yield* setPassword(user, secret, user.id)
  const { sealedPassword } = (yield* users.forAuthentication(user.id))?.secrets ?? {}
  const begun = yield* beginSession(user, { sealedPassword }, meta)
  return begun === undefined ? yield* refusedInvite : { user, detail: "by an invitation: the password was set", ...begun }
})

const replaced = new CodeRefused({ because: "your user was changed just now" })

const byProvider = Effect.fnUntraced(function* (answer: typeof ProviderAnswer.Type, meta: RequestMeta) {
  const person = yield* personOnPage(id, answer, meta)
  const { user, opened, detail } = yield* signInPerson(person, (found, seen) => beginSession(found, seen, meta))
  return opened === undefined ? yield* replaced : { user, detail, ...opened }
})

/** Every failure has the same text, whoever the user is. Guessing is slow, as for tokens; keys cannot be guessed. */
export const startSession = operation({
  id,
  route: "POST /session",
  base: "/ui",
  group: "User",
  origin: "ours",
  does: "begin a session",
  summary: "Sign in: the answer sets the cookie of a session; with an invitation, set the password first",
  access: "anonymous",
  target: "none",
  body: {
    type: "json",
    required: true,
    schema: Schema.Union([
      Schema.Struct({ email: Given, ...password }),
      Schema.Struct({ userID: Given, ...password }),
      Schema.Struct({ apiKey: Given }),
      Schema.Struct({ invite: Invitation, ...password }),
      ProviderAnswer,
    ]),
    maxBytes: 8192,
  },
  output: { type: "session", schema: SignedIn },
  statuses: {
    200: "who is signed in, and the cookie",
    400: "a field is missing or not valid; the new password is not acceptable",
    401: "the credentials are wrong",
    403: "the request comes from a page that is not the service's; the person at the provider may not sign in",
    404: "no provider is configured",
    413: "the body is larger than 8192 bytes",
    429: "too many wrong passwords or failed sign-ins came before; Retry-After says how many seconds to wait",
    500: "unexpected server failure",
    502: "the provider is unreachable or cannot be trusted; the hypervisor is unreachable while a user is created or a password is set",
  },
  handle: ({ body, meta }) =>
    Effect.gen(function* () {
      const { user, secret, session, detail } = yield* "code" in body
        ? byProvider(body, meta)
        : "apiKey" in body
          ? byKey(body.apiKey, meta)
          : "invite" in body
            ? byInvite(body.invite, body.password, meta)
            : byPassword(body, body.password, meta)
      yield* recordSignIn(id, user, meta, detail)
      return { json: signedIn(user, session), cookies: { session: secret, ...("code" in body ? { signIn: undefined } : {}) } }
    }),
})
