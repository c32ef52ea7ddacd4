import type { Amounts, GroupName, GroupNotFound, QuotaFacts, SetLimits, UserId, UserNotFound } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** Limits that users and groups have, and what they are compared with. `RunJournal.open` and `Ranges.create` refuse what exceeds them. */
export class Quotas extends Context.Service<
  Quotas,
  {
    /** The user's own limits. */
    readonly ofUser: (user: UserId) => Effect.Effect<Amounts, StorageFault>
    readonly limits: Effect.Effect<SetLimits, StorageFault>
    /** For reports and warnings: what changes while it is read may be in it in part. Decisions are made where they are stored. */
    readonly facts: Effect.Effect<QuotaFacts, StorageFault>
    /** Sets what is named for each user; 0 takes a limit away. All or nothing. */
    readonly limitUsers: (users: readonly UserId[], limits: Partial<Amounts>) => Effect.Effect<void, UserNotFound | StorageFault>
    /** The same for groups: the limits that their members have who have none of their own. */
    readonly limitGroups: (
      groups: readonly GroupName[],
      limits: Partial<Amounts>,
    ) => Effect.Effect<void, GroupNotFound | StorageFault>
  }
>()("rangewright/Quotas") {}
