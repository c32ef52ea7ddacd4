import {
  admissionProblem,
  Forbidden,
  isUserId,
  type ProvenPerson,
  textClaim,
  type User,
  type UserId,
  verifiedEmailOf,
} from "@rangewright/domain"
import { Identities, type LinkOutcome, Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { SingleSignOn } from "../settings.ts"
import { configuredSingleSignOn } from "./configured.ts"
import { userForPerson } from "./user-for-person.ts"

const askAnAdministrator = "Ask an administrator, or sign in with your password or API key."

/** The person is authenticated, but not admitted. The log tells operators who it was. */
const notAdmitted = Effect.fnUntraced(function* (
  { issuer, subject }: ProvenPerson,
  { name }: SingleSignOn,
  because: string,
  hint = askAnAdministrator,
) {
  yield* Effect.logWarning("a person whom the identity provider authenticated was not admitted", { issuer, subject, because })
  return yield* new Forbidden({ reason: `Cannot sign in with ${name}: ${because}`, hint })
})

const problems: Readonly<Record<Exclude<LinkOutcome, "linked">, (user: User) => string>> = {
  administrator: ({ id }) => `user ${id} is an administrator, and is not connected to an account there`,
  "user-taken": ({ id }) => `user ${id} is connected to another account there`,
  "person-taken": () => "you signed in twice at the same time; sign in again",
}

const howToConnect = (name: string) =>
  `Sign in with your password or API key, and connect ${name} under Account. An administrator removes a connection: DELETE /user/identity?userID=…`

/** The user named by the configured claim; undefined: there is none, or no claim is configured. */
const userNamed = Effect.fnUntraced(function* (person: ProvenPerson, sso: SingleSignOn) {
  const users = yield* Users
  if (sso.claim === undefined) return undefined
  if (sso.claim === "email") {
    const email = verifiedEmailOf(person)
    return email === undefined
      ? yield* notAdmitted(person, sso, "the provider has no verified e-mail address for you")
      : yield* users.findByEmail(email)
  }
  const id = textClaim(person, sso.claim)
  return id === undefined || !isUserId(id)
    ? yield* notAdmitted(person, sso, `the provider gives no user ID for you in the claim ${sso.claim}`)
    : yield* users.find(id)
})

/**
 * Links a person who comes for the first time to an existing or new user. Never to an administrator: an e-mail address may belong to
 * somebody else one day.
 */
const linkFirst = Effect.fnUntraced(function* (person: ProvenPerson, sso: SingleSignOn) {
  const identities = yield* Identities
  const known = yield* userNamed(person, sso)
  if (known === undefined && !sso.makesUsers)
    return yield* notAdmitted(person, sso, "you are not connected to any user of this service", howToConnect(sso.name))
  const user = known ?? (yield* userForPerson(person, sso))
  const { issuer, subject } = person
  const createdAt = new Date(yield* Clock.currentTimeMillis)
  const outcome = yield* identities.link({ issuer, subject, userId: user.id, createdAt }, { administrators: false })
  if (outcome !== "linked") return yield* notAdmitted(person, sso, problems[outcome](user), howToConnect(sso.name))
  return {
    userId: user.id,
    isNew: known === undefined,
    detail: `${known === undefined ? "created" : "linked"} subject=${subject}`,
  }
})

/** Fails if the person is no longer linked to this user. */
const staysLinked = Effect.fnUntraced(function* (person: ProvenPerson, userId: UserId, sso: SingleSignOn) {
  const identities = yield* Identities
  const link = yield* identities.find(person)
  if (link?.userId !== userId) yield* notAdmitted(person, sso, "the connection to your user was removed just now")
})

/**
 * The user that a person signs in as. `open` creates the token or session, on condition that the given secret is still stored: if the link
 * is removed meanwhile, or just after, nothing of it stays valid. `isNew`: the user was created just now. `detail` is for the audit trail.
 */
export const signInPerson = Effect.fnUntraced(function* <A, E, R>(
  person: ProvenPerson,
  open: (user: User, seen: { readonly tokenKey: string }) => Effect.Effect<A, E, R>,
) {
  const identities = yield* Identities
  const users = yield* Users
  const sso = yield* configuredSingleSignOn
  const problem = admissionProblem(person, sso)
  if (problem !== undefined) return yield* notAdmitted(person, sso, problem)
  const link = yield* identities.find(person)
  const { userId, ...how } =
    link === undefined ? yield* linkFirst(person, sso) : { userId: link.userId, isNew: false, detail: "" }
  const found = yield* users.forAuthentication(userId)
  if (found === undefined) return yield* notAdmitted(person, sso, "your user was removed just now")
  // removing the link also replaces the key of tokens: what was opened before that becomes invalid
  const opened = yield* open(found.user, { tokenKey: found.secrets.tokenKey })
  yield* staysLinked(person, userId, sso)
  return { user: found.user, opened, ...how }
})
