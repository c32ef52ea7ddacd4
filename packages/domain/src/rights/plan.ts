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

/** What brings access on the hypervisor in line, phase by phase: rights are taken before any are given. The changes of a phase may be made in any order. */
export interface AccessPlan {
  readonly take: readonly AccessChange[]
  /** Groups and pools: accounts and rights need them. */
  readonly prepare: readonly AccessChange[]
  readonly make: readonly AccessChange[]
  readonly give: readonly AccessChange[]
  /** What nothing is lost by: rights that are held another way by now, and pools of ranges that are gone. */
  readonly tidy: readonly AccessChange[]
  /** What cannot be brought in line, and why. */
  readonly notes: readonly string[]
}

export interface AccessInput {
  readonly desired: DesiredAccess
  readonly held: HeldAccess
  readonly observed: ObservedAccess
}

const accountsIn = ({ accounts }: HeldAccess): readonly AccountId[] => Object.keys(accounts) as AccountId[]
const rangesIn = ({ ranges }: HeldAccess): readonly RangeId[] => Object.keys(ranges) as RangeId[]

/** A user's account, or a token's. Names of accounts may have a `!`, names of tokens have none. */
const accountOfSubject = ({ type, name }: AccessSubject): AccountId =>
  (type === "token" ? name.slice(0, name.lastIndexOf("!")) : name) as AccountId

/** What a subject has at a place and should not have. */
interface Surplus {
  readonly place: AccessPlace
  readonly subject: RevokedSubject
}

/** Subjects to take away from one place, in one change. */
const revokes = (found: readonly Surplus[]): readonly AccessChange[] => {
  const byPlace = new Map<string, { place: AccessPlace; subjects: RevokedSubject[] }>()
  for (const { place, subject } of found) {
    const entry = byPlace.get(placeText(place)) ?? { place, subjects: [] }
    entry.subjects.push(subject)
    byPlace.set(placeText(place), entry)
  }
  return [...byPlace.values()].map(({ place, subjects }) => ({ kind: "revoke", place, subjects }))
}

/** A VNet of that name may be missing, or somebody else's: another installation may share the zone. */
const isThere = ({ vnets }: ObservedAccess, { place, rangeId }: DesiredPlace): boolean =>
  place.type !== "vnet" || vnets.get(placePath(place)) === networkComment(rangeId)

/** The VNets on which the service has given rights, and that are still a range's, or gone with it. */
const heldVnets = ({ desired, held, observed }: AccessInput): readonly VnetPlace[] => {
  if (desired.networks === "unknown") return []
  const ours = new Set([...desired.ranges.keys(), ...rangesIn(held)].map(networkComment))
  return held.vnets.filter((vnet) => {
    const alias = observed.vnets.get(placePath(vnet))
    return alias === undefined ? !desired.places.has(placeText(vnet)) : ours.has(alias)
  })
}

/** By their paths: the places of ranges, of those too that are gone. A cluster not seen yet says nothing of VNets. */
const ourPlaces = (input: AccessInput): ReadonlyMap<string, AccessPlace> => {
  const { desired, held, observed } = input
  const places: readonly AccessPlace[] = [
    ...[...desired.places.values()].filter((one) => isThere(observed, one)).map(({ place }) => place),
    ...rangesIn(held).map((rangeId) => ({ type: "pool" as const, rangeId })),
    ...heldVnets(input),
  ]
  return new Map(places.map((place) => [placePath(place), place]))
}

/** Whether somebody may use what is at a place: by a group of that name, or by the account's own. */
const mayUse = (desired: DesiredAccess, place: AccessPlace, subject: AccessSubject): boolean =>
  mayAt(desired, place, subject.type === "group" ? subject.name : groupOfAccount(accountOfSubject(subject)))

/**
 * Rights that nobody should have. `tidy`: of who may use what is there, but not in this way. `notes`: what others were given at places of ours
 * that the service does not grant, and so leaves alone.
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
    // a token has no more than its account
    if (may && subject.type === "token") continue
    const granted = rolesAt(place)
    // whoever may use a machine can give any role on it to anybody; elsewhere a role of our own people hides those of their groups
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

/** Memberships that give rights and should not: in personal groups of others, and of our accounts among the administrators. */
const unexpectedMemberships = (
  { desired, held, observed }: AccessInput,
  ourGroups: ReadonlySet<string>,
): readonly AccessChange[] =>
  [...observed.accounts].flatMap(([account, { ours, groups }]) => {
    const wanted = desired.accounts.get(account)
    const removed = wanted === undefined && held.accounts[account] !== undefined
    // an account of ours that nobody has goes as a whole
    if (removed && ours) return []
    const leaves = groups.filter((group) => {
      if (wanted?.groups.includes(group) === true) return false
      if (ourGroups.has(group)) return true
      return group === adminGroup ? wanted !== undefined || removed : removed && group === userGroup
    })
    return leaves.length === 0 ? [] : [{ kind: "leave-groups", account, groups: leaves }]
  })

const staysAsOthers = (what: string): string => `${what} stays, because the service did not make it`

/** What nobody has any more. */
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

/** Pools of ranges that are gone. One above another's pool cannot go. */
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

/** What has the service's mark and is not known to it, and why it stays. */
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

/** The VNets of ranges on which nobody gets rights, because their alias does not name the range. One that is not there yet is no matter. */
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

/** What of the kept is others', each thing once. Rights on ranges follow from what is stored. */
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
    // what was there before the service knew of it keeps its password
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
 * What brings access on the hypervisor in line with what is stored. Nothing is planned when nothing differs. Taken away is: what the service has
 * put there and the store no longer says; on pools and VNets of its ranges the roles that it grants itself, of anybody else, and any other role of
 * its own accounts and groups; any role on machines of its ranges; and the roles that it grants, of its personal groups, elsewhere. Other accounts,
 * groups, paths and roles are not touched.
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

/** The changes that concern one range; `desired` may lack the others. */
export const changesOfRange = ({ desired, held, observed }: AccessInput, id: RangeId): readonly AccessChange[] => {
  const ranges = Object.fromEntries(Object.entries(held.ranges).filter(([other]) => other === id))
  return changesOf(planAccess({ desired, held: { ...held, ranges }, observed })).filter((change) =>
    concernsRange(desired, change, id),
  )
}

/** The accounts that a change is about, by their own names or those of their groups. */
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

/** Whether a change is about the range's pool, or rights on it, on its VNet or on its machines. */
export const concernsRange = ({ places }: DesiredAccess, change: AccessChange, id: RangeId): boolean => {
  if (change.kind === "create-pool" || change.kind === "remove-pool") return change.rangeId === id
  if (change.kind !== "grant" && change.kind !== "revoke") return false
  const { place } = change
  return place.type === "vnet" ? places.get(placeText(place))?.rangeId === id : place.rangeId === id
}
