/** The limited resources, in the order used in texts. */
export const quotaResources = ["ram", "cpus", "vms", "ranges"] as const
export type QuotaResource = (typeof quotaResources)[number]

/** An amount of each resource: `ram` in GiB. As a limit, 0 means no limit. */
export type Amounts = Readonly<Record<QuotaResource, number>>

export const noAmounts: Amounts = { ram: 0, cpus: 0, vms: 0, ranges: 0 }

/** The highest limit that can be set. */
export const highestLimit = 1_000_000_000

/** The origin of a limit: the user's own, a group's, the system's; empty if there is none. */
export type LimitSource = "U" | "G" | "S" | ""

export interface EffectiveLimits {
  readonly limits: Amounts
  readonly sources: Readonly<Record<QuotaResource, LimitSource>>
}

/** An amount for each resource. */
export const eachResource = <A>(make: (resource: QuotaResource) => A): Readonly<Record<QuotaResource, A>> => ({
  ram: make("ram"),
  cpus: make("cpus"),
  vms: make("vms"),
  ranges: make("ranges"),
})

/** A user's own limit if there is one, else the highest of the user's groups, else the system's. */
export const effectiveLimits = (own: Amounts, groups: readonly Amounts[], system: Amounts): EffectiveLimits => {
  const chosen = eachResource((resource): readonly [number, LimitSource] => {
    if (own[resource] > 0) return [own[resource], "U"]
    const group = Math.max(0, ...groups.map((limits) => limits[resource]))
    if (group > 0) return [group, "G"]
    return system[resource] > 0 ? [system[resource], "S"] : [0, ""]
  })
  return { limits: eachResource((resource) => chosen[resource][0]), sources: eachResource((resource) => chosen[resource][1]) }
}
