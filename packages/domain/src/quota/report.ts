import type { GroupName } from "../access/group.ts"
import type { UserId } from "../access/ids.ts"
import { type Amounts, type EffectiveLimits, effectiveLimits, noAmounts } from "./limits.ts"
import { type CountedRange, useOf } from "./use.ts"

/** Limits that users and groups have of their own; who is not in them has none. */
export interface SetLimits {
  readonly ofUsers: ReadonlyMap<UserId, Amounts>
  readonly ofGroups: ReadonlyMap<GroupName, Amounts>
}

/** Everything that quotas are decided from. */
export interface QuotaFacts extends SetLimits {
  readonly groupsOf: (user: UserId) => readonly GroupName[]
  readonly ranges: readonly CountedRange[]
}

/** What a user may take and takes. */
export interface QuotaReport extends EffectiveLimits {
  readonly used: Amounts
}

export const limitsFor = ({ ofUsers, ofGroups, groupsOf }: QuotaFacts, user: UserId, system: Amounts): EffectiveLimits =>
  effectiveLimits(
    ofUsers.get(user) ?? noAmounts,
    groupsOf(user).flatMap((name) => ofGroups.get(name) ?? []),
    system,
  )

const chargedTo = ({ ranges }: QuotaFacts, user: UserId): readonly CountedRange[] => ranges.filter(({ payer }) => payer === user)

export const quotaReport = (facts: QuotaFacts, user: UserId, system: Amounts): QuotaReport => ({
  ...limitsFor(facts, user, system),
  used: useOf(chargedTo(facts, user)),
})

/** What a user would take with one range changed to this, or made anew. */
export const useWith = (facts: QuotaFacts, user: UserId, range: Pick<CountedRange, "id" | "machines" | "coming">): Amounts =>
  useOf([...chargedTo(facts, user).filter(({ id }) => id !== range.id), range])
