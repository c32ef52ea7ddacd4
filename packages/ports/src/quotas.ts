import type { Amounts, GroupName, GroupNotFound, QuotaFacts, SetLimits, UserId, UserNotFound } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** Limits of users and groups, and the data they are compared with. `RunJournal.open` and `Ranges.create` enforce them. */
export class Quotas extends Context.Service<
  Quotas,
  {
    /** The user's own limits. */
    readonly ofUser: (user: UserId) => Effect.Effect<Amounts, StorageFault>
    readonly limits: Effect.Effect<SetLimits, StorageFault>
    /** For reports and warnings: concurrent changes may show in part. Decisions are made where the limits are enforced. */
    readonly facts: Effect.Effect<QuotaFacts, StorageFault>
    /** Sets the given limits for each user; 0 removes a limit. All or nothing. */
    readonly limitUsers: (users: readonly UserId[], limits: Partial<Amounts>) => Effect.Effect<void, UserNotFound | StorageFault>
    /** The same for groups; a group's limits apply to members who have none of their own. */
    readonly limitGroups: (
      groups: readonly GroupName[],
      limits: Partial<Amounts>,
    ) => Effect.Effect<void, GroupNotFound | StorageFault>
  }
>()("rangewright/Quotas") {}
