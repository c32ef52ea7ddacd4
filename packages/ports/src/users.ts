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

/** `number` is a preference: the user gets it if it is free. */
export interface NewUser extends UserDraft, Partial<Pick<User, "number">> {
  readonly secrets: UserSecrets
}

/** The fields a user record's change may name; absent ones keep their value. */
export type UserChange = Partial<Pick<User, "name" | "hasCompletedOnboarding" | "defaultRangeId">>

/** Users and their secrets. Unique by id, number, hypervisor account and e-mail address (without regard to case). */
export class Users extends Context.Service<
  Users,
  {
    readonly find: (id: UserId) => Effect.Effect<User | undefined, StorageFault>
    readonly findByRecordId: (id: RecordId) => Effect.Effect<User | undefined, StorageFault>
    readonly findByEmail: (email: string) => Effect.Effect<User | undefined, StorageFault>
    /** Ascending by number, ROOT included. */
    readonly list: Effect.Effect<readonly User[], StorageFault>
    /** Takes the requested number, else the lowest free one, from 2 to 150 (ROOT: 1). Numbers of removed users rest for a day before they are given again. */
    readonly create: (user: NewUser) => Effect.Effect<User, UserExists | Exhausted | StorageFault>
    /** Who loses the rights loses the sessions too. Never takes the rights of the last administrator beside ROOT, also not where two take them from each other at the same time. */
    readonly setAdmin: (id: UserId, isAdmin: boolean) => Effect.Effect<User, UserNotFound | LastAdministrator | StorageFault>
    readonly change: (id: UserId, change: UserChange) => Effect.Effect<User, UserNotFound | StorageFault>
    /** Also removes the user's grants, places in groups, sessions and links to people of a provider. */
    readonly remove: (id: UserId) => Effect.Effect<void, StorageFault>
    /** Hot path: the user and what authentication needs, one read. */
    readonly forAuthentication: (
      id: UserId,
    ) => Effect.Effect<{ readonly user: User; readonly secrets: UserSecrets } | undefined, StorageFault>
    /**
     * Ends the user's sessions and removes the user's scoped keys. With `whileApiKeyHash`, the key stays the same and only its hash is another
     * one: sessions and scoped keys stay, and nothing changes where the hash is another one by now.
     */
    readonly setSecrets: (
      id: UserId,
      secrets: Partial<UserSecrets>,
      condition?: { readonly whileApiKeyHash: string },
    ) => Effect.Effect<void, UserNotFound | StorageFault>
    /** Stamps of activity, many at once; they never go back, and ids that do not exist are left out. */
    readonly touch: (stamps: ReadonlyMap<UserId, Date>) => Effect.Effect<void, StorageFault>
  }
>()("rangewright/Users") {}
