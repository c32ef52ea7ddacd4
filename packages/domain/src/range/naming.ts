import type { RangeId } from "../access/ids.ts"
import { natAlias, networkComment } from "../network/addressing.ts"
import { routerDefaults } from "./config/defaults.ts"
import { renderName } from "./config/variables.ts"

/** Pools and accounts of the service itself. Ranges below such a pool would inherit the rights on it. */
const reservedIds: ReadonlySet<string> = new Set(["ADMIN", "ROOT", "SHARED"])

/** Names of networks: `vmbr1007` and `r7` are those of the range with the number 7. The names of VNets are case-sensitive. */
const networkPattern = /^(vmbr\d+|r\d+|ludusnat)$/u

/** IDs of ranges that differ only in case are the same ID: people confuse them, and so do file systems. */
export const rangeIdKey = (id: string): string => id.toLowerCase()

/** The message for an ID that another range has or that is kept for a user: one text for both, so that it reveals no more. */
export const takenRangeId = (id: string): string =>
  `Cannot create range ${id}: a range or a user has this ID already; IDs that differ only in case are the same`

/** The range, or folder of ranges, directly above an ID; undefined: it is at the top. */
export const parentRangeId = (id: RangeId): RangeId | undefined => {
  const end = id.lastIndexOf("/")
  return end < 0 ? undefined : (id.slice(0, end) as RangeId)
}

/** Whether the range is below the other one, at whatever depth. Rights on the upper one's pool apply to the lower one's too. */
export const liesBelow = (id: RangeId, upper: RangeId): boolean => id.startsWith(`${upper}/`)

/** Why no new range may get this ID, whoever asks; undefined: the ID itself is allowed. Ranges that have such an ID keep it. */
export const reservedIdProblem = (id: RangeId): string | undefined => {
  const [top = ""] = id.split("/")
  if (reservedIds.has(top.toUpperCase())) return `${top} is reserved for the service itself`
  // the range's network could not be told from the outside one. A range below it has another comment
  if (networkComment(id).toUpperCase() === natAlias.toUpperCase())
    return `${id} is the name of the network through which ranges reach the outside`
  return networkPattern.test(top) ? `${top} is, or could become, the name of a network` : undefined
}

/** A range other than the one whose machines are named. */
export interface OtherRange {
  readonly id: RangeId
  /** True: it was created no earlier than the one whose machines are named. */
  readonly younger: boolean
}

const beginsWith = (name: string, id: string): boolean => rangeIdKey(name).startsWith(`${rangeIdKey(id)}-`)

/**
 * Whether a machine's name looks like one of another range: it begins with that range's ID and `-`, and not with the range's own ID unless
 * that is shorter. Case does not count. The default name of the range's router is never another's.
 */
export const passesForAnother = (name: string, rangeId: string, others: readonly Pick<OtherRange, "id">[]): boolean => {
  if (rangeIdKey(name) === rangeIdKey(renderName(routerDefaults.name, { rangeId }))) return false
  const own = beginsWith(name, rangeId) ? rangeId.length : -1
  return others.some(({ id }) => id.length > own && beginsWith(name, id))
}

/**
 * The ranges whose claims to names count when a stored configuration is carried out. A range created later, with an ID that begins with
 * this range's ID and `-`, takes no names away from it.
 */
export const olderClaims = (rangeId: RangeId, others: readonly OtherRange[]): readonly OtherRange[] =>
  others.filter(({ id, younger }) => !(younger && beginsWith(id, rangeId)))
