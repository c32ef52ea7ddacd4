import type { Identity, Person, UserId, UserNotFound } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** The outcome of linking a person to a user. */
export type LinkOutcome =
  | "linked"
  /** The person is already linked to a user, this one or another. */
  | "person-taken"
  /** The user is linked to another person of the same provider. */
  | "user-taken"
  /** The user is an administrator, and linking administrators was not allowed. */
  | "administrator"

/** Links between people at an identity provider and the users they sign in as. Links are removed with their user. */
export class Identities extends Context.Service<
  Identities,
  {
    readonly find: (person: Person) => Effect.Effect<Identity | undefined, StorageFault>
    readonly ofUser: (userId: UserId) => Effect.Effect<readonly Identity[], StorageFault>
    /** A person is linked to at most one user, and a user to at most one person per provider. */
    readonly link: (
      identity: Identity,
      allowed: { readonly administrators: boolean },
    ) => Effect.Effect<LinkOutcome, UserNotFound | StorageFault>
    /** Returns the number of links the user had. */
    readonly unlink: (userId: UserId) => Effect.Effect<number, StorageFault>
    /** Marks a sign-in as used, until it expires. False if it had already been used. */
    readonly spend: (signIn: { readonly hash: string; readonly expiresAt: Date }) => Effect.Effect<boolean, StorageFault>
  }
>()("rangewright/Identities") {}
