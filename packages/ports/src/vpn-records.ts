import type { HeldVpn, UserId, UserNotFound, VpnKey, VpnMember } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RecordDamaged, StaleVersion, StorageFault } from "./faults.ts"

/** The keys of users for the VPN, of which no two are the same, whom its server should let in, and whom it does. */
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
    /** All users that have a key, with the ranges that they may use, as it is stored at one moment. Ascending by number. */
    readonly members: Effect.Effect<readonly VpnMember[], StorageFault>
    /** What the service knows of the server; a damaged record is `damagedHeldVpn`. The version goes up with each write, from 0 for what was never written. */
    readonly held: Effect.Effect<{ readonly held: HeldVpn; readonly version: number }, RecordDamaged | StorageFault>
    /** Replaces it where nobody else has since it was read. */
    readonly hold: (held: HeldVpn, version: number) => Effect.Effect<void, StaleVersion | StorageFault>
  }
>()("rangewright/VpnRecords") {}
