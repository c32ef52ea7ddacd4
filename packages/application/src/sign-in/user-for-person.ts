import {
  Forbidden,
  InvalidInput,
  isReservedUserId,
  isUserId,
  type ProvenPerson,
  rootUserId,
  textClaim,
  UserExists,
  userIdStemOf,
  verifiedEmailOf,
} from "@rangewright/domain"
import { CredentialHasher, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { provisionUser } from "../accounts/provision-user.ts"
import type { SingleSignOn } from "../settings.ts"

const stemLength = 3
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/** A free user ID for a person of this name: the stem, or the stem with the lowest free number from 2 on. */
const freeUserId = Effect.fnUntraced(function* (name: string) {
  const users = yield* Users
  const hasher = yield* CredentialHasher
  const taken = new Set((yield* users.list).map(({ id }) => id.toUpperCase()))
  const stem = userIdStemOf(name) ?? hasher.randomText(stemLength, letters)
  const isFree = (id: string) => !taken.has(id) && !isReservedUserId(id)
  let id = stem
  for (let n = 2; !isFree(id); n++) id = `${stem}${n}`
  return id
})

/** The user ID in the configured claim, unless that is the e-mail address. */
const givenUserId = (person: ProvenPerson, { claim }: SingleSignOn): string | undefined => {
  const id = claim === undefined || claim === "email" ? undefined : textClaim(person, claim)
  return id !== undefined && isUserId(id) ? id : undefined
}

const cannot = ({ name }: SingleSignOn, because: string): Forbidden =>
  new Forbidden({ reason: `Cannot sign in with ${name}: ${because}`, hint: "Ask an administrator to add you." })

/** Creates a user for a person who signs in for the first time: a plain user with a default range, never an administrator. */
export const userForPerson = Effect.fnUntraced(function* (person: ProvenPerson, sso: SingleSignOn) {
  const email = verifiedEmailOf(person)
  if (email === undefined)
    return yield* cannot(sso, "a user needs an e-mail address, and the provider has no verified one for you")
  const name = textClaim(person, "name") ?? textClaim(person, "preferred_username") ?? email.slice(0, email.indexOf("@"))
  const userId = givenUserId(person, sso) ?? (yield* freeUserId(name))
  const { user } = yield* provisionUser({ userId, name, email, password: undefined, isAdmin: false }, rootUserId).pipe(
    // the provider's data is at fault, not the request
    Effect.catchIf(
      (fault) => fault instanceof UserExists || fault instanceof InvalidInput,
      ({ message }) => Effect.fail(cannot(sso, message)),
    ),
  )
  return user
})
