import type { Conflict, RangeNotFound, ScopedKey, UserId, UserNotFound } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** Further API keys of users. They go with their user, and with the range that they are for. */
export class ScopedKeys extends Context.Service<
  ScopedKeys,
  {
    /** Keeps a key, and forgets those of the user that have expired. Refused where the user would have more than `scopedKeysAtMost`. */
    readonly create: (key: ScopedKey) => Effect.Effect<void, UserNotFound | RangeNotFound | Conflict | StorageFault>
    /** Also those that have expired. */
    readonly find: (id: string) => Effect.Effect<ScopedKey | undefined, StorageFault>
    /** The oldest first, also those that have expired. */
    readonly ofUser: (userId: UserId) => Effect.Effect<readonly ScopedKey[], StorageFault>
    /** Whether there was such a key, of this user; undefined: of anybody. */
    readonly remove: (userId: UserId | undefined, id: string) => Effect.Effect<boolean, StorageFault>
  }
>()("rangewright/ScopedKeys") {}
