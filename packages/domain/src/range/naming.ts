import type { RangeId } from "../access/ids.ts"
import { routerDefaults } from "./config/defaults.ts"
import { renderName } from "./config/variables.ts"

/** Pools and accounts of the service itself. What lies below such a pool would get the rights on it. */
const reservedIds: ReadonlySet<string> = new Set(["ADMIN", "ROOT", "SHARED"])

/** How networks are named: `vmbr1007` and `r7` are those of the range with the number 7. Case counts in the names of VNets. */
const networkPattern = /^(vmbr\d+|r\d+|ludusnat)$/u

/** IDs of ranges that differ only in case are one ID: people confuse them, and so do file systems. */
export const rangeIdKey = (id: string): string => id.toLowerCase()

/** What is said of an ID that another range has, or that is kept for a user: one text, so that it tells no more. */
export const takenRangeId = (id: string): string =>
  `Cannot create range ${id}: a range with this ID already exists, or it is the ID of a user; IDs that differ only in case are the same`

/** The range, or folder of ranges, that an ID puts its range below; undefined: at the top. */
export const parentRangeId = (id: RangeId): RangeId | undefined => {
  const end = id.lastIndexOf("/")
  return end < 0 ? undefined : (id.slice(0, end) as RangeId)
}

/** Whether the range lies below the other one, at whatever depth. Rights on the upper one's pool hold for the lower one's too. */
export const liesBelow = (id: RangeId, upper: RangeId): boolean => id.startsWith(`${upper}/`)

/**
 * Why no new range may get this ID, whoever asks; undefined: nothing in the ID itself is against it. Ranges that have such an ID keep it.
 */
export const reservedIdProblem = (id: RangeId): string | undefined => {
  const [top = ""] = id.split("/")
  if (reservedIds.has(top.toUpperCase())) return `${top} is reserved for the service itself`
  return networkPattern.test(top) ? `${top} is, or could become, the name of a network` : undefined
}

/** Another range beside the one whose machines are named. */
export interface OtherRange {
  readonly id: RangeId
  /** True: it was made no earlier than the one whose machines are named. */
  readonly younger: boolean
}

const beginsWith = (name: string, id: string): boolean => rangeIdKey(name).startsWith(`${rangeIdKey(id)}-`)

/**
 * Whether a machine's name passes for one of another range: it begins with that range's ID and `-`, and with no longer ID that is the range's
 * own. Case does not count. The name that the range's router has by default is never another's.
 */
export const passesForAnother = (name: string, rangeId: string, others: readonly Pick<OtherRange, "id">[]): boolean => {
  if (rangeIdKey(name) === rangeIdKey(renderName(routerDefaults.name, { rangeId }))) return false
  const own = beginsWith(name, rangeId) ? rangeId.length : -1
  return others.some(({ id }) => id.length > own && beginsWith(name, id))
}

/**
 * The ranges that count when a stored configuration is carried out. One that was made later, with an ID that begins with this range's own and
 * `-`, takes no names away from it.
 */
export const olderClaims = (rangeId: RangeId, others: readonly OtherRange[]): readonly OtherRange[] =>
  others.filter(({ id, younger }) => !(younger && beginsWith(id, rangeId)))
