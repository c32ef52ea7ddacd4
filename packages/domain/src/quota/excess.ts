import type { RangeId, UserId } from "../access/ids.ts"
import { defineFault } from "../fault/fault.ts"
import { type Amounts, type QuotaResource, quotaResources } from "./limits.ts"
import { type QuotaFacts, quotaReport, type SetLimits, useWith } from "./report.ts"
import { configSizes, type CountedRange } from "./use.ts"

const names: Readonly<Record<QuotaResource, string>> = { ram: "RAM", cpus: "CPUs", vms: "VMs", ranges: "ranges" }
const unit = (resource: QuotaResource): string => (resource === "ram" ? " GiB" : "")

/** The exceeded limits; empty if there are none. A change that does not increase usage is never refused, even above the limit. */
export const quotaExcess = (limits: Amounts, now: Amounts, then: Amounts): readonly string[] =>
  quotaResources.flatMap((resource) => {
    const [limit, current, sum] = [limits[resource], now[resource], then[resource]]
    if (limit === 0 || sum <= limit || sum <= current) return []
    const amount = (value: number) => `${value}${unit(resource)}`
    return `${names[resource]}: limit ${amount(limit)}, in use ${amount(current)}, requested ${amount(sum - current)} more, ${amount(sum)} in all`
  })

export class QuotaExceeded extends defineFault(
  "QuotaExceeded",
  "forbidden",
  (f: { readonly doing: string; readonly user: UserId; readonly excess: readonly string[] }) => ({
    message: `Cannot ${f.doing}: the quota of ${f.user} does not allow it: ${f.excess.join("; ")}`,
    hint: "Remove VMs or ranges, or ask an administrator for a higher quota.",
  }),
) {}

const exceeded = (
  facts: QuotaFacts,
  system: Amounts,
  { doing, payer, range }: { readonly doing: string; readonly payer: UserId; readonly range: Omit<CountedRange, "payer"> },
): QuotaExceeded | undefined => {
  const { limits, used } = quotaReport(facts, payer, system)
  const excess = quotaExcess(limits, used, useWith(facts, payer, range))
  return excess.length === 0 ? undefined : new QuotaExceeded({ doing, user: payer, excess })
}

/**
 * Why the quota does not allow deploying a configuration to a range; undefined if it does. A range that is not among the facts is charged
 * to nobody.
 */
export const refusedDeploy = (
  facts: QuotaFacts,
  rangeId: RangeId,
  config: string,
  system: Amounts,
): QuotaExceeded | undefined => {
  const range = facts.ranges.find(({ id }) => id === rangeId)
  if (range?.payer === undefined) return undefined
  const coming = configSizes(rangeId, config)
  return exceeded(facts, system, { doing: `deploy range ${rangeId}`, payer: range.payer, range: { ...range, coming } })
}

/** Why the quota does not allow another range for a user; undefined if it does, or nobody is charged. */
export const refusedRange = (
  facts: QuotaFacts,
  { id, payer }: Pick<CountedRange, "id" | "payer">,
  system: Amounts,
): QuotaExceeded | undefined =>
  payer === undefined
    ? undefined
    : exceeded(facts, system, { doing: `create range ${id}`, payer, range: { id, machines: [], coming: [] } })

/** Whether there are any limits; without any, nothing needs to be counted. */
export const isAnyLimited = ({ ofUsers, ofGroups }: SetLimits, system: Amounts): boolean =>
  [system, ...ofUsers.values(), ...ofGroups.values()].some((limits) => quotaResources.some((one) => limits[one] > 0))
