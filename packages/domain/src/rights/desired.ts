import type { RangeId } from "../access/ids.ts"
import { vnetName } from "../network/addressing.ts"
import { type AccessPlace, type AccountId, adminGroup, groupOfAccount, placeText, type StoredAccess, userGroup } from "./model.ts"

/**
 * Whether rights can be granted on the ranges' networks: on VNets of this zone, but not on bridges. `unknown` until the service has seen
 * the cluster.
 */
export type RightsOnNetworks = { readonly type: "vnets"; readonly zone: string } | { readonly type: "bridges" | "unknown" }

export interface DesiredAccount {
  readonly groups: readonly string[]
  readonly admin: boolean
  readonly passwordVersion: string
}

export interface DesiredPlace {
  readonly place: AccessPlace
  readonly rangeId: RangeId
  readonly groups: ReadonlySet<string>
  readonly leaving: boolean
}

/** The desired access on the hypervisor: a pure function of what is stored. */
export interface DesiredAccess {
  readonly accounts: ReadonlyMap<AccountId, DesiredAccount>
  /** Who has each range; `leaving`: rights are only revoked. */
  readonly ranges: ReadonlyMap<RangeId, { readonly accounts: readonly AccountId[]; readonly leaving: boolean }>
  /** By `placeText`: the groups that may use what is there. */
  readonly places: ReadonlyMap<string, DesiredPlace>
  readonly networks: RightsOnNetworks["type"]
}

/** The places where the service grants rights on a range. */
export const placesOf = (
  range: { readonly id: RangeId; readonly number: number },
  networks: RightsOnNetworks,
): readonly AccessPlace[] => [
  { type: "pool", rangeId: range.id },
  ...(networks.type === "vnets" ? [{ type: "vnet" as const, zone: networks.zone, name: vnetName(range.number) }] : []),
]

export const desiredAccess = (stored: StoredAccess, networks: RightsOnNetworks): DesiredAccess => {
  const accountOf = new Map(stored.users.map(({ id, account }) => [id, account]))
  const accounts = new Map(
    stored.users.map(({ account, isAdmin: admin, passwordVersion }) => {
      const groups = [userGroup, ...(admin ? [adminGroup] : []), groupOfAccount(account)]
      return [account, { groups, admin, passwordVersion }] as const
    }),
  )
  const ranges: Map<RangeId, { accounts: readonly AccountId[]; leaving: boolean }> = new Map()
  const places = new Map<string, DesiredPlace>()
  for (const range of stored.ranges) {
    const { leaving } = range
    const people = [...new Set(range.users.flatMap((id) => accountOf.get(id) ?? []))].sort()
    ranges.set(range.id, { accounts: people, leaving })
    const groups = new Set([adminGroup, ...people.map(groupOfAccount)])
    const machines = range.machines.map((vmid) => ({ type: "machine" as const, rangeId: range.id, vmid }))
    for (const place of [...placesOf(range, networks), ...machines])
      places.set(placeText(place), { place, rangeId: range.id, groups, leaving })
  }
  return { accounts, ranges, places, networks: networks.type }
}

/** Whether a group may use what is at a place. */
export const mayAt = ({ places }: DesiredAccess, place: AccessPlace, group: string): boolean =>
  places.get(placeText(place))?.groups.has(group) === true

/** Whether a group may be granted rights at a place: not on a range that is being removed. */
export const getsAt = (desired: DesiredAccess, place: AccessPlace, group: string): boolean =>
  desired.places.get(placeText(place))?.leaving === false && mayAt(desired, place, group)
