import type { HeldVpn, UserId, UserNotFound, VpnKey, VpnMember } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RecordDamaged, StaleVersion, StorageFault } from "./faults.ts"

/** The VPN keys of users, each unique; whom the VPN server should let in, and whom it does. */
export class VpnRecords extends Context.Service<
  VpnRecords,
  {
    /** Undefined if the user has none yet. */
    readonly key: (user: UserId) => Effect.Effect<VpnKey | undefined, StorageFault>
    /** The users without a key, ascending by number; without ROOT, which needs none. */
    readonly keyless: Effect.Effect<readonly UserId[], StorageFault>
    /** Stores a user's first key. A user who already has a key keeps it. */
    readonly giveKey: (user: UserId, key: VpnKey) => Effect.Effect<void, UserNotFound | StorageFault>
    /** Replaces a user's key; the old one is deleted. */
    readonly replaceKey: (user: UserId, key: VpnKey) => Effect.Effect<void, UserNotFound | StorageFault>
    /** All users with a key, with the ranges they may use, read in one consistent snapshot. Ascending by number. */
    readonly members: Effect.Effect<readonly VpnMember[], StorageFault>
    /**
     * What the service knows of the server; `damagedHeldVpn` if the record is damaged. The version increases with each write; 0 if never
     * written.
     */
    readonly held: Effect.Effect<{ readonly held: HeldVpn; readonly version: number }, RecordDamaged | StorageFault>
    /** Replaces it, unless somebody else has since it was read. */
    readonly hold: (held: HeldVpn, version: number) => Effect.Effect<void, StaleVersion | StorageFault>
  }
>()("rangewright/VpnRecords") {}
