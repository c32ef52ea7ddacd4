import type { Identity, Person, UserId, UserNotFound } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** What became of the wish to link a person to a user. */
export type LinkOutcome =
  | "linked"
  /** The person is linked to a user already, this one or another. */
  | "person-taken"
  /** The user is linked to another person of the same provider. */
  | "user-taken"
  /** The user is an administrator, and that was not allowed. */
  | "administrator"

/** Which people of a provider of identities sign in as which users. Links go with their user. */
export class Identities extends Context.Service<
  Identities,
  {
    readonly find: (person: Person) => Effect.Effect<Identity | undefined, StorageFault>
    readonly ofUser: (userId: UserId) => Effect.Effect<readonly Identity[], StorageFault>
    /** A person is linked to one user at most, and a user to one person of a provider. */
    readonly link: (
      identity: Identity,
      allowed: { readonly administrators: boolean },
    ) => Effect.Effect<LinkOutcome, UserNotFound | StorageFault>
    /** Returns how many links the user had. */
    readonly unlink: (userId: UserId) => Effect.Effect<number, StorageFault>
    /** Notes that a sign-in has succeeded, until it could not be repeated any more. False: it had succeeded before. */
    readonly spend: (signIn: { readonly hash: string; readonly expiresAt: Date }) => Effect.Effect<boolean, StorageFault>
  }
>()("rangewright/Identities") {}
