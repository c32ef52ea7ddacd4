import type { UserId, UserNotFound, VpnKey } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** The keys of users for the VPN. No two users have the same. */
export class VpnRecords extends Context.Service<
  VpnRecords,
  {
    /** Undefined: the user has none yet. */
    readonly key: (user: UserId) => Effect.Effect<VpnKey | undefined, StorageFault>
    /** The users without a key, ascending by number; ROOT needs none. */
    readonly keyless: Effect.Effect<readonly UserId[], StorageFault>
    /** Gives a user the first key. One that has a key by now keeps it. */
    readonly giveKey: (user: UserId, key: VpnKey) => Effect.Effect<void, UserNotFound | StorageFault>
    /** Gives a user another key; the old one is forgotten. */
    readonly replaceKey: (user: UserId, key: VpnKey) => Effect.Effect<void, UserNotFound | StorageFault>
  }
>()("rangewright/VpnRecords") {}
