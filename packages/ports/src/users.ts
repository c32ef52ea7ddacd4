import type {
  LastAdministrator,
  RecordId,
  User,
  UserDraft,
  UserExists,
  UserId,
  UserNotFound,
  UserSecrets,
  Exhausted,
} from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** `number` is a preference, granted if it is free. */
export interface NewUser extends UserDraft, Partial<Pick<User, "number">> {
  readonly secrets: UserSecrets
}

/** The fields of a user that can be changed; absent ones keep their value. */
export type UserChange = Partial<Pick<User, "name" | "hasCompletedOnboarding" | "defaultRangeId">>

/** Users and their secrets. Unique by id, number, hypervisor account and e-mail address (case-insensitive). */
export class Users extends Context.Service<
  Users,
  {
    readonly find: (id: UserId) => Effect.Effect<User | undefined, StorageFault>
    readonly findByRecordId: (id: RecordId) => Effect.Effect<User | undefined, StorageFault>
    readonly findByEmail: (email: string) => Effect.Effect<User | undefined, StorageFault>
    /** Ascending by number, ROOT included. */
    readonly list: Effect.Effect<readonly User[], StorageFault>
    /**
     * Assigns the requested number, or else the lowest free one, from 2 to 150 (ROOT: 1). The number of a removed user is not reassigned
     * for a day.
     */
    readonly create: (user: NewUser) => Effect.Effect<User, UserExists | Exhausted | StorageFault>
    /**
     * Revoking the rights also ends the user's sessions. Never revokes the rights of the last administrator other than ROOT, even when two
     * administrators revoke each other's at the same time.
     */
    readonly setAdmin: (id: UserId, isAdmin: boolean) => Effect.Effect<User, UserNotFound | LastAdministrator | StorageFault>
    readonly change: (id: UserId, change: UserChange) => Effect.Effect<User, UserNotFound | StorageFault>
    /** Also removes the user's grants, group memberships, sessions and links to external identities. */
    readonly remove: (id: UserId) => Effect.Effect<void, StorageFault>
    /** Hot path: the user with the secrets for authentication, in one read. */
    readonly forAuthentication: (
      id: UserId,
    ) => Effect.Effect<{ readonly user: User; readonly secrets: UserSecrets } | undefined, StorageFault>
    /**
     * Ends the user's sessions and removes the user's scoped keys. `whileApiKeyHash` is for rehashing an unchanged key: sessions and scoped
     * keys stay, and nothing changes if the stored hash is no longer this one.
     */
    readonly setSecrets: (
      id: UserId,
      secrets: Partial<UserSecrets>,
      condition?: { readonly whileApiKeyHash: string },
    ) => Effect.Effect<void, UserNotFound | StorageFault>
    /**
     * Records the last activity of many users at once. Times never move backward, unless the clock was set back (`setBackBy`); unknown ids
     * are ignored.
     */
    readonly touch: (stamps: ReadonlyMap<UserId, Date>) => Effect.Effect<void, StorageFault>
  }
>()("rangewright/Users") {}
