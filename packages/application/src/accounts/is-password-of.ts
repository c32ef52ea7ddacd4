import { rootUserId, type User, userPasswordContext } from "@rangewright/domain"
import { CredentialHasher, SecretStore, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { SignIns } from "../sign-in/sign-ins.ts"

/**
 * Whether this is the user's password. Does the same work for an unknown user and for one without a password, so that timing reveals
 * nothing.
 */
export const isPasswordOf = (user: User | undefined, password: string) =>
  Effect.gen(function* () {
    const users = yield* Users
    const secrets = yield* SecretStore
    const hasher = yield* CredentialHasher
    const found = yield* users.forAuthentication(user?.id ?? rootUserId)
    const own = user === undefined ? undefined : found?.secrets.sealedPassword
    const { decoy } = yield* SignIns
    const sealed = user === undefined || own === undefined ? decoy : { sealed: own, context: userPasswordContext(user.id) }
    const actual = yield* secrets.open(sealed.sealed, sealed.context)
    return hasher.equal(actual, password) && own !== undefined
  })
