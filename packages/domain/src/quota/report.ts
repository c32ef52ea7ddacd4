import type { GroupName } from "../access/group.ts"
import type { UserId } from "../access/ids.ts"
import { type Amounts, type EffectiveLimits, effectiveLimits, noAmounts } from "./limits.ts"
import { type CountedRange, useOf } from "./use.ts"

/** Limits set for users and groups; those without any are missing. */
export interface SetLimits {
  readonly ofUsers: ReadonlyMap<UserId, Amounts>
  readonly ofGroups: ReadonlyMap<GroupName, Amounts>
}

/** All data that quota decisions are based on. */
export interface QuotaFacts extends SetLimits {
  readonly groupsOf: (user: UserId) => readonly GroupName[]
  readonly ranges: readonly CountedRange[]
}

/** A user's limits and usage. */
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

/** A user's usage if one range were changed to this, or created. */
export const useWith = (facts: QuotaFacts, user: UserId, range: Pick<CountedRange, "id" | "machines" | "coming">): Amounts =>
  useOf([...chargedTo(facts, user).filter(({ id }) => id !== range.id), range])
