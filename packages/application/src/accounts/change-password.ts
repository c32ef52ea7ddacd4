import { type Fault, type User, userPasswordContext } from "@rangewright/domain"
import { type CredentialHasher, HypervisorAccess, SecretStore, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { newTokenKey } from "./identity.ts"

/**
 * Sets a user's password on the hypervisor and here, and ends all the user's tokens. When the second write fails the call may be
 * repeated; until then the hypervisor has the new password and the service the old one.
 */
export const changePassword = (
  user: User,
  password: string,
): Effect.Effect<void, Fault, HypervisorAccess | SecretStore | Users | CredentialHasher> =>
  Effect.gen(function* () {
    yield* (yield* HypervisorAccess).setPassword({ username: user.hypervisorUsername, realm: user.hypervisorRealm }, password)
    yield* (yield* Users).setSecrets(user.id, {
      sealedPassword: (yield* SecretStore).seal(password, userPasswordContext(user.id)),
      tokenKey: yield* newTokenKey,
    })
  })
