import type { RangeId } from "../access/ids.ts"

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
