import { isRangeId, isReservedUserId, isUserId, type RangeId, rootUserId, type UserId } from "../access/ids.ts"
import { rangeNumberSpan, userNumberSpan } from "../access/allocation.ts"
import { isClosed, type RangeState, type TestingState } from "../range/range.ts"
import type { LegacyInstallation, LegacyRange, LegacyUser } from "./legacy.ts"
import { legacyLine, legacyState, legacyTesting } from "./legacy-values.ts"

export interface ImportedRange {
  readonly id: RangeId
  readonly number: number
  readonly name: string
  readonly owner: UserId
  readonly state: RangeState
  readonly testing: TestingState
  readonly lastDeploymentAt: Date | undefined
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
  /** The wanted user number, which determines the VPN address: that of the user's range, given if it is free. */
  readonly number: number
}

/** What is imported, and what is skipped and why. Users come before their ranges, ranges before grants. */
export interface LegacyImport {
  readonly users: readonly ImportedUser[]
  readonly ranges: readonly ImportedRange[]
  readonly grants: readonly { readonly rangeId: RangeId; readonly userId: UserId }[]
  /** Users who have their range but no default range: an earlier import ended before setting it. */
  readonly defaults: readonly { readonly rangeId: RangeId; readonly userId: UserId }[]
  /** For people. */
  readonly skipped: readonly string[]
}

/** What exists here already, so that a second import adds only what is missing. */
export interface ImportTarget {
  readonly users: readonly {
    readonly id: UserId
    readonly email: string
    readonly hypervisorUsername: string
    readonly defaultRangeId: RangeId | undefined
  }[]
  readonly ranges: readonly { readonly id: RangeId; readonly number: number }[]
  readonly grants: readonly { readonly rangeId: RangeId; readonly userId: UserId }[]
}

const emailOf = (username: string): string => `${username}@ludus.internal`
const accountPattern = /^[a-z_][a-z0-9._-]{0,47}$/u
const bcryptHash = /^\$2[aby]\$(?:0[4-9]|1[0-4])\$[./A-Za-z0-9]{53}$/u
const longestName = 100

/** Whether a text is an API key's hash as the first generation stored it. A higher cost would make each use of the key slow. */
export const isFirstGenerationKeyHash = (text: string): boolean => bcryptHash.test(text)

/** What exists here by now: it grows while the import is planned. */
interface Known {
  readonly users: Map<string, ImportTarget["users"][number]>
  readonly ranges: Map<string, ImportTarget["ranges"][number]>
}

/**
 * Plans the import of an older installation's data: users with their keys and passwords, their ranges under their old numbers, and who may
 * use whose range. What exists here stays as it is, so that an import may be repeated, even one that stopped halfway.
 */
export const planImport = (legacy: LegacyInstallation, target: ImportTarget): LegacyImport => {
  const skipped: string[] = [...legacy.unread]
  const known: Known = {
    users: new Map(target.users.map((user) => [user.id, user])),
    ranges: new Map(target.ranges.map((range) => [range.id, range])),
  }
  const users: ImportedUser[] = []
  const ranges: ImportedRange[] = []
  const rangeOf = firstOfEach(legacy.ranges, ({ userId }) => userId, "range of user", skipped)
  const userOf = firstOfEach(legacy.users, ({ id }) => id, "user", skipped)
  for (const [id, user] of userOf) {
    if (id === rootUserId) continue
    const range = rangeOf.get(id)
    const why = known.users.has(id) ? knownUserRefusal(user, range, known) : newUserRefusal(user, range, known)
    if (why !== undefined) skipped.push(`user ${legacyLine(id)}: ${why}`)
    if (why !== undefined || range === undefined || known.ranges.has(id)) continue
    if (!known.users.has(id)) {
      const imported = importedUser(user, range)
      users.push(imported)
      known.users.set(id, { ...imported, defaultRangeId: undefined })
      if (imported.apiKeyHash === undefined)
        skipped.push(`the API key of user ${id}: its hash is not a bcrypt hash with a cost of 4 to 14`)
    }
    const imported = importedRange(user, range, skipped)
    skipped.push(...user.unread.map((file) => `user ${id}: ${file}`))
    ranges.push(imported)
    known.ranges.set(id, imported)
  }
  for (const id of rangeOf.keys())
    if (id !== rootUserId && !userOf.has(id)) skipped.push(`the range of ${legacyLine(id)}: the database has no such user`)
  return {
    users: users.toSorted((a, b) => Number(isUserNumber(b.number)) - Number(isUserNumber(a.number))),
    ranges,
    grants: missingGrants(legacy, target, known, ranges, skipped),
    defaults: target.users.flatMap(({ id, defaultRangeId }) => {
      const range = rangeOf.get(id)
      const own = known.ranges.get(id)
      return defaultRangeId === undefined && own !== undefined && own.number === range?.number
        ? [{ rangeId: own.id, userId: id }]
        : []
    }),
    skipped,
  }
}

/** Users whose number can be kept come first, so that nobody else gets it. */
const isUserNumber = (number: number): boolean => number >= userNumberSpan.from && number <= userNumberSpan.to

const firstOfEach = <A>(
  all: readonly A[],
  keyOf: (one: A) => string,
  what: string,
  skipped: string[],
): ReadonlyMap<string, A> => {
  const first = new Map<string, A>()
  for (const one of all) {
    const key = keyOf(one)
    if (first.has(key)) skipped.push(`a second ${what} ${legacyLine(key)}: only the first one counts`)
    else first.set(key, one)
  }
  return first
}

const newUserRefusal = (user: LegacyUser, range: LegacyRange | undefined, known: Known): string | undefined => {
  if (!isUserId(user.id) || !isRangeId(user.id)) return "the user ID is not allowed"
  if (isReservedUserId(user.id)) return "the user ID is reserved"
  if (range === undefined) return "the user has no range"
  const account = user.hypervisorUsername
  if (!accountPattern.test(account)) return `${legacyLine(account)} is not a valid account name`
  for (const other of known.users.values()) {
    if (other.hypervisorUsername === account) return `the account ${account} belongs to user ${other.id}`
    if (other.email.toLowerCase() === emailOf(account)) return `the address ${emailOf(account)} belongs to user ${other.id}`
  }
  return known.ranges.has(user.id) ? `a range ${user.id} exists` : numberRefusal(range, known)
}

/** For a user who exists here: only the range may be missing. */
const knownUserRefusal = (user: LegacyUser, range: LegacyRange | undefined, known: Known): string | undefined => {
  if (range === undefined) return undefined
  const own = known.ranges.get(user.id)
  if (own !== undefined)
    return own.number === range.number
      ? undefined
      : `the existing range ${own.id} has the number ${own.number}, not ${range.number}`
  const here = known.users.get(user.id)
  return here?.hypervisorUsername === user.hypervisorUsername
    ? numberRefusal(range, known)
    : `the existing user with this name has the account ${here?.hypervisorUsername}, not ${legacyLine(user.hypervisorUsername)}`
}

const numberRefusal = ({ number }: LegacyRange, known: Known): string | undefined => {
  const { from, to } = rangeNumberSpan
  if (!Number.isInteger(number) || number < from || number > to) return `the range number ${number} is outside ${from} to ${to}`
  const holder = [...known.ranges.values()].find((range) => range.number === number)
  return holder === undefined ? undefined : `the range number ${number} belongs to range ${holder.id}`
}

const importedUser = (user: LegacyUser, range: LegacyRange): ImportedUser => {
  const name = [...legacyLine(user.name)].slice(0, longestName).join("").trim()
  return {
    id: user.id as UserId,
    name: name === "" ? user.id : name,
    email: emailOf(user.hypervisorUsername),
    isAdmin: user.isAdmin,
    apiKeyHash: isFirstGenerationKeyHash(user.apiKeyHash) ? user.apiKeyHash : undefined,
    hypervisorUsername: user.hypervisorUsername,
    createdAt: user.createdAt,
    password: user.password,
    number: range.number,
  }
}

const importedRange = ({ id, config }: LegacyUser, range: LegacyRange, skipped: string[]): ImportedRange => {
  const { testing, refused } = legacyTesting(range.testing)
  if (refused > 0) skipped.push(`the range of user ${id}: ${refused} invalid allowed domains or addresses of testing mode`)
  if (isClosed(testing))
    skipped.push(
      `the range of user ${id}: testing is on, but its router has the rules of the old service, so its testing state is ${testing.mode}: start testing again, or stop it`,
    )
  return {
    id: id as RangeId,
    number: range.number,
    name: `Default Range for ${id}`,
    owner: id as UserId,
    state: legacyState(range.state),
    testing,
    lastDeploymentAt: range.lastDeploymentAt,
    config,
  }
}

const missingGrants = (
  { access }: LegacyInstallation,
  target: ImportTarget,
  known: Known,
  imported: readonly ImportedRange[],
  skipped: string[],
): LegacyImport["grants"] => {
  const held = new Set([
    ...target.grants.map(({ rangeId, userId }) => `${rangeId}\n${userId}`),
    ...imported.map(({ id, owner }) => `${id}\n${owner}`),
  ])
  const grants: LegacyImport["grants"][number][] = []
  for (const { targetUserId, sourceUserIds } of access)
    for (const source of sourceUserIds) {
      const range = known.ranges.get(targetUserId)
      const user = known.users.get(source)
      const key = `${targetUserId}\n${source}`
      if (held.has(key) || source === rootUserId) continue
      held.add(key)
      if (range !== undefined && user !== undefined) grants.push({ rangeId: range.id, userId: user.id })
      else
        skipped.push(
          `access of ${legacyLine(source)} to the range of ${legacyLine(targetUserId)}: one of them does not exist here`,
        )
    }
  return grants
}
