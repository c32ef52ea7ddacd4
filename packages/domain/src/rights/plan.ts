import type { RangeId } from "../access/ids.ts"
import { networkComment } from "../network/addressing.ts"
import { type DesiredAccess, type DesiredPlace, mayAt } from "./desired.ts"
import { foundKey, foundRights } from "./found.ts"
import {
  type AccessChange,
  type AccessPlace,
  type AccessSubject,
  type AccountId,
  type AccountKeep,
  adminGroup,
  groupOfAccount,
  type HeldAccess,
  nothingKept,
  type ObservedAccess,
  hasPassword,
  placeAt,
  placePath,
  placeText,
  type RevokedSubject,
  rolesAt,
  subjectName,
  userGroup,
  type VnetPlace,
} from "./model.ts"

/**
 * The changes that reconcile access on the hypervisor, in phases: rights are revoked before any are granted. The changes within a phase can
 * be made in any order.
 */
export interface AccessPlan {
  readonly take: readonly AccessChange[]
  /** Groups and pools, which accounts and rights depend on. */
  readonly prepare: readonly AccessChange[]
  readonly make: readonly AccessChange[]
  readonly give: readonly AccessChange[]
  /** Changes by which nobody loses access: removing redundant rights, and pools of ranges that are gone. */
  readonly tidy: readonly AccessChange[]
  /** What cannot be reconciled, and why. */
  readonly notes: readonly string[]
}

export interface AccessInput {
  readonly desired: DesiredAccess
  readonly held: HeldAccess
  readonly observed: ObservedAccess
}

const accountsIn = ({ accounts }: HeldAccess): readonly AccountId[] => Object.keys(accounts) as AccountId[]
const rangesIn = ({ ranges }: HeldAccess): readonly RangeId[] => Object.keys(ranges) as RangeId[]

/** The account of a user or a token. Account names may contain `!`, token names may not. */
const accountOfSubject = ({ type, name }: AccessSubject): AccountId =>
  (type === "token" ? name.slice(0, name.lastIndexOf("!")) : name) as AccountId

/** Rights that a subject has at a place but should not have. */
interface Surplus {
  readonly place: AccessPlace
  readonly subject: RevokedSubject
}

/** Combines the revocations at each place into one change. */
const revokes = (found: readonly Surplus[]): readonly AccessChange[] => {
  const byPlace = new Map<string, { place: AccessPlace; subjects: RevokedSubject[] }>()
  for (const { place, subject } of found) {
    const entry = byPlace.get(placeText(place)) ?? { place, subjects: [] }
    entry.subjects.push(subject)
    byPlace.set(placeText(place), entry)
  }
  return [...byPlace.values()].map(({ place, subjects }) => ({ kind: "revoke", place, subjects }))
}

/** Whether the place exists: a VNet of that name may be missing, or belong to another installation that shares the zone. */
const isThere = ({ vnets }: ObservedAccess, { place, rangeId }: DesiredPlace): boolean =>
  place.type !== "vnet" || vnets.get(placePath(place)) === networkComment(rangeId)

/** The VNets on which the service has granted rights and that still belong to a range, or are gone with it. */
const heldVnets = ({ desired, held, observed }: AccessInput): readonly VnetPlace[] => {
  if (desired.networks === "unknown") return []
  const ours = new Set([...desired.ranges.keys(), ...rangesIn(held)].map(networkComment))
  return held.vnets.filter((vnet) => {
    const alias = observed.vnets.get(placePath(vnet))
    return alias === undefined ? !desired.places.has(placeText(vnet)) : ours.has(alias)
  })
}

/** The places of ranges by path, including ranges that are gone. Without VNets until the cluster has been seen. */
const ourPlaces = (input: AccessInput): ReadonlyMap<string, AccessPlace> => {
  const { desired, held, observed } = input
  const places: readonly AccessPlace[] = [
    ...[...desired.places.values()].filter((one) => isThere(observed, one)).map(({ place }) => place),
    ...rangesIn(held).map((rangeId) => ({ type: "pool" as const, rangeId })),
    ...heldVnets(input),
  ]
  return new Map(places.map((place) => [placePath(place), place]))
}

/** Whether a subject may use what is at a place: as a group, or through the account's personal group. */
const mayUse = (desired: DesiredAccess, place: AccessPlace, subject: AccessSubject): boolean =>
  mayAt(desired, place, subject.type === "group" ? subject.name : groupOfAccount(accountOfSubject(subject)))

/**
 * Rights that should not exist. `take`: of subjects that may not use the place. `tidy`: of subjects that may use it, but have these rights
 * in another way. `notes`: roles at our places that others were given and the service does not grant, so that they stay.
 */
const unexpectedRights = (input: AccessInput, ourGroups: ReadonlySet<string>) => {
  const { desired, held, observed } = input
  const places = ourPlaces(input)
  const take: Surplus[] = []
  const tidy: Surplus[] = []
  const notes: string[] = []
  const isOurs = (subject: AccessSubject): boolean => {
    if (subject.type === "group") return ourGroups.has(subject.name) || subject.name === userGroup || subject.name === adminGroup
    const account = accountOfSubject(subject)
    return desired.accounts.has(account) || held.accounts[account] !== undefined
  }
  for (const { path, subject, roles } of foundRights(observed.rights).values()) {
    const known = places.get(path)
    const place = known ?? (subject.type === "group" && ourGroups.has(subject.name) ? placeAt(path) : undefined)
    if (place === undefined || (place.type === "vnet" && desired.networks === "unknown")) continue
    const may = mayUse(desired, place, subject)
    // a token never has more rights than its account
    if (may && subject.type === "token") continue
    const granted = rolesAt(place)
    // users of a machine can grant any role on it to anybody; elsewhere, a direct role of our own accounts would override those of their
    // groups
    const isAnyRole = place.type === "machine" || (known !== undefined && isOurs(subject))
    const isExpected = may && subject.type === "group" && place.type !== "machine"
    const surplus = [...roles.keys()].filter((role) => (granted.includes(role) ? !isExpected : isAnyRole))
    const left = isAnyRole || known === undefined ? [] : [...roles.keys()].filter((role) => !granted.includes(role))
    if (surplus.length > 0) (may ? tidy : take).push({ place, subject: { ...subject, roles: surplus } })
    if (left.length > 0)
      notes.push(
        `${subjectName(subject)} has ${left.sort().join(", ")} on ${placeText(place)}: somebody else granted it, so it stays`,
      )
  }
  return { take, tidy, notes: notes.sort() }
}

/** Memberships that grant undesired rights: in other accounts' personal groups, and of our accounts in the administrators' group. */
const unexpectedMemberships = (
  { desired, held, observed }: AccessInput,
  ourGroups: ReadonlySet<string>,
): readonly AccessChange[] =>
  [...observed.accounts].flatMap(([account, { ours, groups }]) => {
    const wanted = desired.accounts.get(account)
    const removed = wanted === undefined && held.accounts[account] !== undefined
    // an account of ours without a user is removed as a whole
    if (removed && ours) return []
    const leaves = groups.filter((group) => {
      if (wanted?.groups.includes(group) === true) return false
      if (ourGroups.has(group)) return true
      return group === adminGroup ? wanted !== undefined || removed : removed && group === userGroup
    })
    return leaves.length === 0 ? [] : [{ kind: "leave-groups", account, groups: leaves }]
  })

const staysAsOthers = (what: string): string => `${what} stays, because the service did not create it`

/** Accounts and groups without a user. */
const removals = ({ desired, held, observed }: AccessInput) => {
  const notes: string[] = []
  const gone = accountsIn(held).filter((account) => !desired.accounts.has(account))
  const changes = gone.flatMap((account): readonly AccessChange[] => {
    const group = groupOfAccount(account)
    const isOurs = observed.accounts.get(account)?.ours
    const isOurGroup = observed.groups.get(group)
    if (isOurs === false) notes.push(staysAsOthers(`account ${account}`))
    if (isOurGroup === false) notes.push(staysAsOthers(`group ${group}`))
    return [
      ...(isOurs === true ? [{ kind: "remove-account" as const, account }] : []),
      ...(isOurGroup === true ? [{ kind: "remove-group" as const, group }] : []),
    ]
  })
  return { changes, notes }
}

/** Pools of ranges that are gone. A pool with nested pools cannot be removed. */
const strayPools = ({ desired, held, observed }: AccessInput) => {
  const notes: string[] = []
  const stray = rangesIn(held).filter((id) => !desired.ranges.has(id) && observed.pools.has(id))
  const goes = new Set(stray.filter((id) => observed.pools.get(id) === true))
  const changes = stray.flatMap((rangeId): readonly AccessChange[] => {
    const below = [...observed.pools.keys()].find((id) => id.startsWith(`${rangeId}/`) && !goes.has(id))
    if (!goes.has(rangeId)) notes.push(staysAsOthers(`pool ${rangeId}`))
    else if (below !== undefined) notes.push(`pool ${rangeId} stays, because pool ${below} is below it`)
    else return [{ kind: "remove-pool", rangeId }]
    return []
  })
  return { changes, notes }
}

/** Objects with the service's mark that the service does not know, and why they stay. */
const strangers = ({ desired, held, observed }: AccessInput, ourGroups: ReadonlySet<string>): readonly string[] => {
  const accounts = [...observed.accounts].flatMap(([account, { ours }]) =>
    ours && !desired.accounts.has(account) && held.accounts[account] === undefined ? [`account ${account}`] : [],
  )
  const known = new Set([...ourGroups, userGroup, adminGroup])
  const groups = [...observed.groups].flatMap(([group, ours]) => (ours && !known.has(group) ? [`group ${group}`] : []))
  const why = "it was created after the backup that was restored, by a worker that was paused, or by another installation"
  return [...accounts, ...groups]
    .sort()
    .map(
      (what) =>
        `${what} carries the service's mark, but the service does not know it: ${why}. It stays: remove it on the hypervisor if nobody needs it`,
    )
}

const longestAlias = 64

/** VNets on which no rights are granted because their alias does not name the range. Missing VNets do not count. */
const otherAliases = ({ desired, observed }: AccessInput): readonly string[] =>
  [...desired.places.values()].flatMap(({ place, rangeId, leaving }) => {
    const alias = place.type === "vnet" && !leaving ? observed.vnets.get(placePath(place)) : undefined
    const wanted = networkComment(rangeId)
    if (alias === undefined || alias === wanted) return []
    const has = `has the alias ${JSON.stringify(alias.slice(0, longestAlias))} instead of "${wanted}"`
    return [`${placeText(place)} ${has}, so nobody gets rights on it: set the alias if it is the VNet of range ${rangeId}`]
  })

const groupsToMake = ({ desired, observed }: AccessInput): readonly AccessChange[] => {
  const wanted = new Set([userGroup, adminGroup, ...[...desired.accounts.keys()].map(groupOfAccount)])
  return [...wanted].filter((group) => !observed.groups.has(group)).map((group) => ({ kind: "create-group", group }))
}

/** The kept groups and rights without duplicates, and without rights on ranges, which follow from what is stored. */
const othersIn = (places: ReadonlyMap<string, AccessPlace>, ...keeps: readonly AccountKeep[]): AccountKeep => {
  const rights = keeps.flatMap((keep) => keep.rights).filter(({ path }) => !places.has(path))
  return {
    groups: [...new Set(keeps.flatMap((keep) => keep.groups))],
    rights: [...new Map(rights.map((right) => [`${right.path}\n${right.role}`, right])).values()],
  }
}

const accountChanges = (input: AccessInput) => {
  const { desired, held, observed } = input
  const notes: string[] = []
  const places = ourPlaces(input)
  const changes = [...desired.accounts].flatMap(([account, { groups, passwordVersion }]): readonly AccessChange[] => {
    const seen = observed.accounts.get(account)
    const known = held.accounts[account]
    const keep = othersIn(places, known?.keep ?? nothingKept)
    if (seen === undefined) return [{ kind: "create-account", account, groups, keep }]
    const missing = groups.filter((group) => !seen.groups.includes(group))
    const joins: readonly AccessChange[] = missing.length === 0 ? [] : [{ kind: "join-groups", account, groups: missing }]
    const completion: readonly AccessChange[] = known?.keep === undefined ? joins : [...joins, { kind: "restore", account, keep }]
    // an account that existed before the service knew of it keeps its password
    if (known === undefined || known.password === passwordVersion || !hasPassword(account)) return completion
    if (seen.passwordObstacle === undefined)
      return [...joins, { kind: "set-password", account, groups, keep: othersIn(places, keep, seen.keep) }]
    notes.push(`the password of ${account} cannot be set on the hypervisor, because ${seen.passwordObstacle}`)
    return completion
  })
  return { changes, notes }
}

const grants = ({ desired, observed }: AccessInput): readonly AccessChange[] => {
  const found = foundRights(observed.rights)
  return [...desired.places.values()].flatMap((one): readonly AccessChange[] => {
    const { place, groups, leaving } = one
    if (leaving || !isThere(observed, one)) return []
    const missing = [...groups].filter((name) => {
      const roles = found.get(foundKey(placePath(place), { type: "group", name }))?.roles
      return !rolesAt(place).every((role) => roles?.get(role) === true)
    })
    return missing.length === 0 ? [] : [{ kind: "grant", place, groups: missing }]
  })
}

/**
 * Plans the changes that reconcile access on the hypervisor with what is stored; no changes if nothing differs. It revokes: what the
 * service has put there and the store no longer contains; on pools and VNets of its ranges, roles of the kinds it grants from anybody else,
 * and any other role of its own accounts and groups; any role on machines of its ranges; and elsewhere, roles of the kinds it grants from
 * its personal groups. Other accounts, groups, paths and roles are not touched.
 */
export const planAccess = (input: AccessInput): AccessPlan => {
  const { desired, held, observed } = input
  const ourGroups = new Set([...desired.accounts.keys(), ...accountsIn(held)].map(groupOfAccount))
  const rights = unexpectedRights(input, ourGroups)
  const accounts = accountChanges(input)
  const pools = [...desired.ranges]
    .filter(([id, { leaving }]) => !leaving && !observed.pools.has(id))
    .map(([rangeId]): AccessChange => ({ kind: "create-pool", rangeId }))
  const stray = strayPools(input)
  const removed = removals(input)
  return {
    take: [...revokes(rights.take), ...unexpectedMemberships(input, ourGroups), ...removed.changes],
    prepare: [...groupsToMake(input), ...pools],
    make: accounts.changes,
    give: grants(input),
    tidy: [...revokes(rights.tidy), ...stray.changes],
    notes: [
      ...accounts.notes,
      ...rights.notes,
      ...removed.notes,
      ...stray.notes,
      ...otherAliases(input),
      ...strangers(input, ourGroups),
    ],
  }
}

export const phasesOf = ({ take, prepare, make, give, tidy }: AccessPlan): readonly (readonly AccessChange[])[] => [
  take,
  prepare,
  make,
  give,
  tidy,
]

export const changesOf = (plan: AccessPlan): readonly AccessChange[] => phasesOf(plan).flat()

/** The changes that concern one range; `desired` may lack all others. */
export const changesOfRange = ({ desired, held, observed }: AccessInput, id: RangeId): readonly AccessChange[] => {
  const ranges = Object.fromEntries(Object.entries(held.ranges).filter(([other]) => other === id))
  return changesOf(planAccess({ desired, held: { ...held, ranges }, observed })).filter((change) =>
    concernsRange(desired, change, id),
  )
}

/** Whether a change concerns an account, directly or through its personal group. */
export const concernsAccount = (change: AccessChange, account: AccountId): boolean => {
  const group = groupOfAccount(account)
  switch (change.kind) {
    case "revoke":
      return change.subjects.some((subject) =>
        subject.type === "group" ? subject.name === group : accountOfSubject(subject) === account,
      )
    case "grant":
      return change.groups.includes(group)
    case "create-group":
    case "remove-group":
      return change.group === group
    case "create-pool":
    case "remove-pool":
      return false
    case "create-account":
    case "join-groups":
    case "leave-groups":
    case "remove-account":
    case "restore":
    case "set-password":
      return change.account === account
  }
}

/** Whether a change concerns the range's pool, or rights on its pool, VNet or machines. */
export const concernsRange = ({ places }: DesiredAccess, change: AccessChange, id: RangeId): boolean => {
  if (change.kind === "create-pool" || change.kind === "remove-pool") return change.rangeId === id
  if (change.kind !== "grant" && change.kind !== "revoke") return false
  const { place } = change
  return place.type === "vnet" ? places.get(placeText(place))?.rangeId === id : place.rangeId === id
}
