import type { Conflict, RangeNotFound, ScopedKey, UserId, UserNotFound } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** Additional API keys of users. Removed with their user, and with the range they are for. */
export class ScopedKeys extends Context.Service<
  ScopedKeys,
  {
    /** Stores a key and deletes the user's expired ones. Refused if the user would have more than `scopedKeysAtMost`. */
    readonly create: (key: ScopedKey) => Effect.Effect<void, UserNotFound | RangeNotFound | Conflict | StorageFault>
    /** Includes expired keys. */
    readonly find: (id: string) => Effect.Effect<ScopedKey | undefined, StorageFault>
    /** Oldest first, including expired keys. */
    readonly ofUser: (userId: UserId) => Effect.Effect<readonly ScopedKey[], StorageFault>
    /** Returns whether the key existed and belonged to this user (undefined: any user). */
    readonly remove: (userId: UserId | undefined, id: string) => Effect.Effect<boolean, StorageFault>
  }
>()("rangewright/ScopedKeys") {}
