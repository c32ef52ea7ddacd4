import { isRangeId, isReservedUserId, isUserId, type RangeId, rootUserId, type UserId } from "../access/ids.ts"
import { rangeNumberSpan } from "../access/allocation.ts"
import type { TestingState } from "../range/range.ts"

/** A user of an installation of the first generation, as its database has him (contract C 14). Nothing of it is trusted. */
export interface LegacyUser {
  readonly id: string
  readonly name: string
  readonly isAdmin: boolean
  /** bcrypt of the whole API key; empty: none. */
  readonly apiKeyHash: string
  readonly hypervisorUsername: string
  readonly createdAt: Date | undefined
  /** His password on the hypervisor; undefined when the installation's files do not tell. */
  readonly password: string | undefined
  /** His range's configuration; undefined when he has none. */
  readonly config: string | undefined
}

export interface LegacyRange {
  readonly userId: string
  readonly number: number
  readonly testing: TestingState
  readonly lastDeploymentAt: Date | undefined
}

/** That users have the range of another one. */
export interface LegacyAccess {
  readonly targetUserId: string
  readonly sourceUserIds: readonly string[]
}

export interface LegacyInstallation {
  readonly users: readonly LegacyUser[]
  readonly ranges: readonly LegacyRange[]
  readonly access: readonly LegacyAccess[]
}

export interface ImportedRange {
  readonly id: RangeId
  readonly number: number
  readonly name: string
  readonly owner: UserId
  readonly testing: TestingState
  readonly config: string | undefined
}

export interface ImportedUser {
  readonly id: UserId
  readonly name: string
  readonly email: string
  readonly isAdmin: boolean
  readonly apiKeyHash: string | undefined
  readonly hypervisorUsername: string
  readonly createdAt: Date | undefined
  readonly password: string | undefined
  /** The address by which his VPN client is known: the number of his range, where it is free. */
  readonly number?: number
}

/** What is taken over, and what is not and why. Users come before their ranges, ranges before grants. */
export interface LegacyImport {
  readonly users: readonly ImportedUser[]
  readonly ranges: readonly ImportedRange[]
  readonly grants: readonly { readonly rangeId: RangeId; readonly userId: UserId }[]
  /** For people. */
  readonly skipped: readonly string[]
}

/** What there is already, so that a second import takes over only what is missing. */
export interface ImportTarget {
  readonly users: readonly { readonly id: UserId; readonly hypervisorUsername: string }[]
  readonly ranges: readonly { readonly id: RangeId; readonly number: number }[]
  readonly grants: readonly { readonly rangeId: RangeId; readonly userId: UserId }[]
}

const emailOf = (username: string): string => `${username}@ludus.internal`
const accountPattern = /^[a-z_][a-z0-9._-]{0,47}$/u
const bcryptHash = /^\$2[aby]\$(?:0[4-9]|1[0-4])\$[./A-Za-z0-9]{53}$/u

/** Whether a text is a hash of an API key as the first generation kept them. A higher cost would hold up whoever shows the key. */
export const isFirstGenerationKeyHash = (text: string): boolean => bcryptHash.test(text)
const longestName = 100

/** Why a user cannot be taken over. */
const userRefusal = (user: LegacyUser, range: LegacyRange | undefined, target: ImportTarget): string | undefined => {
  if (!isUserId(user.id) || !isRangeId(user.id)) return "the user ID is not allowed"
  if (isReservedUserId(user.id)) return "the user ID is reserved"
  if (range === undefined) return "the user has no range"
  if (!accountPattern.test(user.hypervisorUsername)) return `${user.hypervisorUsername} is no name of an account`
  const holder = target.users.find(({ hypervisorUsername }) => hypervisorUsername === user.hypervisorUsername)
  return holder === undefined ? rangeRefusal(range, target) : `the account ${user.hypervisorUsername} belongs to another user`
}

/** Why a range cannot be taken over. */
const rangeRefusal = ({ number }: LegacyRange, target: ImportTarget): string | undefined => {
  const { from, to } = rangeNumberSpan
  if (!Number.isInteger(number) || number < from || number > to) return `the range number ${number} is outside ${from} to ${to}`
  const holder = target.ranges.find((range) => range.number === number)
  return holder === undefined ? undefined : `the range number ${number} belongs to range ${holder.id}`
}

const importedUser = (user: LegacyUser): ImportedUser => {
  const name = [...user.name].slice(0, longestName).join("")
  return {
    id: user.id as UserId,
    name: name === "" ? user.id : name,
    email: emailOf(user.hypervisorUsername),
    isAdmin: user.isAdmin,
    apiKeyHash: isFirstGenerationKeyHash(user.apiKeyHash) ? user.apiKeyHash : undefined,
    hypervisorUsername: user.hypervisorUsername,
    createdAt: user.createdAt,
    password: user.password,
  }
}

/**
 * What an older installation's data comes to here: users with their keys and passwords, their ranges under their old numbers, and who has
 * whose range. What is here already stays as it is, so that an import may be repeated, also one that ended half-way.
 */
export const planImport = (legacy: LegacyInstallation, target: ImportTarget): LegacyImport => {
  const rangeOf = new Map(legacy.ranges.map((range) => [range.userId, range]))
  const known = new Set<string>(target.users.map(({ id }) => id))
  const there = new Set<string>(target.ranges.map(({ id }) => id))
  const users: ImportedUser[] = []
  const ranges: ImportedRange[] = []
  const skipped: string[] = []
  const now = { users: [...target.users], ranges: [...target.ranges], grants: target.grants }
  for (const user of legacy.users) {
    const isKnown = known.has(user.id)
    if (user.id === rootUserId || (isKnown && there.has(user.id))) continue
    const range = rangeOf.get(user.id)
    if (isKnown && range === undefined) continue
    const why = isKnown && range !== undefined ? rangeRefusal(range, now) : userRefusal(user, range, now)
    if (why !== undefined || range === undefined || (!isKnown && there.has(user.id))) {
      skipped.push(`user ${user.id}: ${why ?? `a range ${user.id} exists`}`)
      continue
    }
    const [owner, id] = [user.id as UserId, user.id as RangeId]
    if (!isKnown) {
      const taken = importedUser(user)
      if (taken.apiKeyHash === undefined)
        skipped.push(`the API key of user ${owner}: its hash is not one of bcrypt with a cost of 4 to 14`)
      users.push({ ...taken, number: range.number })
      known.add(owner)
      now.users.push({ id: owner, hypervisorUsername: user.hypervisorUsername })
    }
    const { number, testing } = range
    ranges.push({ id, number, name: `Default Range for ${owner}`, owner, testing, config: user.config })
    now.ranges.push({ id, number })
  }
  return { users, ranges, ...grantsOf(legacy, now, known, ranges, skipped) }
}

const grantsOf = (
  { access }: LegacyInstallation,
  target: ImportTarget,
  known: ReadonlySet<string>,
  imported: readonly ImportedRange[],
  skipped: readonly string[],
): Pick<LegacyImport, "grants" | "skipped"> => {
  const ranges = new Map<string, RangeId>(target.ranges.map(({ id }) => [id, id]))
  const held = new Set([
    ...target.grants.map(({ rangeId, userId }) => `${rangeId}\n${userId}`),
    ...imported.map(({ id, owner }) => `${id}\n${owner}`),
  ])
  const grants: { readonly rangeId: RangeId; readonly userId: UserId }[] = []
  const more: string[] = []
  for (const { targetUserId, sourceUserIds } of access)
    for (const source of sourceUserIds) {
      const rangeId = ranges.get(targetUserId)
      const key = `${targetUserId}\n${source}`
      if (held.has(key) || source === rootUserId) continue
      held.add(key)
      if (rangeId === undefined || !known.has(source))
        more.push(`access of ${source} to the range of ${targetUserId}: one of them is not here`)
      else grants.push({ rangeId, userId: source as UserId })
    }
  return { grants, skipped: [...skipped, ...more] }
}
