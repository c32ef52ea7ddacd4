import type { RangeId } from "../access/ids.ts"
import { liesBelow } from "../range/naming.ts"
import type { DesiredAccess } from "./desired.ts"
import {
  type AccessChange,
  type AccountId,
  groupOfAccount,
  hasPassword,
  type HeldAccess,
  type HeldAccount,
  placeText,
  type VnetPlace,
} from "./model.ts"

const union = (a: readonly AccountId[], b: readonly AccountId[]): readonly AccountId[] => [...new Set([...a, ...b])].sort()

/** The accounts recorded as having a range. `hasOwn`, because a range may be named like a member of `Object.prototype`. */
const holders = (ranges: HeldAccess["ranges"], id: RangeId): readonly AccountId[] | undefined =>
  Object.hasOwn(ranges, id) ? ranges[id] : undefined

/** The VNets on which the changes grant rights. */
const vnetsOf = (changes: readonly AccessChange[]): readonly VnetPlace[] =>
  changes.flatMap((change) => (change.kind === "grant" && change.place.type === "vnet" ? [change.place] : []))

const distinct = (vnets: readonly VnetPlace[]): readonly VnetPlace[] =>
  [...new Map(vnets.map((vnet) => [placeText(vnet), vnet])).entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, vnet]) => vnet)

/** The held state once the changes have begun: what was held before, and everything they may add. */
export const aboutToHold = (held: HeldAccess, desired: DesiredAccess, changes: readonly AccessChange[]): HeldAccess => {
  const accounts: Record<AccountId, HeldAccount> = { ...held.accounts }
  for (const [account, { admin, passwordVersion: password }] of desired.accounts) {
    const known = accounts[account]
    // an account that existed before the service knew of it keeps its password
    accounts[account] = known === undefined ? { admin, password } : { ...known, admin: known.admin || admin }
  }
  for (const change of changes) {
    if (change.kind !== "create-account" && change.kind !== "set-password") continue
    const { account, keep } = change
    const admin = accounts[account]?.admin ?? false
    const isKept = keep.groups.length > 0 || keep.rights.length > 0
    accounts[account] = { admin, password: null, ...(isKept ? { keep } : {}) }
  }
  const ranges: Record<RangeId, readonly AccountId[]> = { ...held.ranges }
  // a range being removed keeps its recorded accounts
  for (const [id, { accounts: people, leaving }] of desired.ranges)
    if (!leaving) ranges[id] = union(holders(ranges, id) ?? [], people)
  return { ...held, accounts, ranges, vnets: distinct([...held.vnets, ...vnetsOf(changes)]), unsettled: true }
}

const distinctIds = <Id extends string>(held: readonly string[], desired: Iterable<Id>): ReadonlySet<Id> =>
  new Set([...(held as readonly Id[]), ...desired])

/** The held objects that the changes concern: names of accounts and groups, ids of ranges, and `placeText` of VNets. */
const concerned = ({ places }: DesiredAccess, changes: readonly AccessChange[]) => {
  const accounts = new Set<string>()
  const ranges = new Set<RangeId>()
  const vnets = new Set<string>()
  for (const change of changes) {
    if ("account" in change) accounts.add(change.account)
    if ("group" in change) accounts.add(change.group)
    if ("rangeId" in change) ranges.add(change.rangeId)
    if (!("place" in change)) continue
    const { place } = change
    const rangeId = place.type === "vnet" ? places.get(placeText(place))?.rangeId : place.rangeId
    if (rangeId !== undefined) ranges.add(rangeId)
    if (place.type === "vnet") vnets.add(placeText(place))
  }
  return { accounts, ranges, vnets }
}

/**
 * The held state once only these changes are left: the desired state and nothing else, except that an account or a range that one of them
 * concerns stays as it was.
 */
export const heldInLine = (held: HeldAccess, desired: DesiredAccess, left: readonly AccessChange[]): HeldAccess => {
  const open = concerned(desired, left)
  const accounts: Record<AccountId, HeldAccount> = {}
  for (const account of distinctIds<AccountId>(Object.keys(held.accounts), desired.accounts.keys())) {
    const known = held.accounts[account]
    const wanted = desired.accounts.get(account)
    if (open.accounts.has(account) || open.accounts.has(groupOfAccount(account))) {
      if (known !== undefined) accounts[account] = known
    } else if (wanted !== undefined) {
      const password = known === undefined || !hasPassword(account) ? wanted.passwordVersion : known.password
      accounts[account] = { ...known, admin: wanted.admin, password }
    }
  }
  const ranges: (readonly [RangeId, readonly AccountId[]])[] = []
  for (const id of distinctIds<RangeId>(Object.keys(held.ranges), desired.ranges.keys())) {
    const had = holders(held.ranges, id)
    const wanted = desired.ranges.get(id)
    if (open.ranges.has(id)) {
      if (had !== undefined) ranges.push([id, had])
    } else if (wanted !== undefined) {
      ranges.push([id, wanted.leaving ? wanted.accounts.filter((account) => had?.includes(account)) : wanted.accounts])
    } else if ([...desired.ranges.keys()].some((other) => liesBelow(other, id))) {
      // its pool cannot be removed yet
      ranges.push([id, []])
    }
  }
  // a VNet that is gone stays held as long as its range exists: rights granted on it must still be revoked
  const vnets = held.vnets
    .map((vnet) => [placeText(vnet), vnet] as const)
    .filter(([name]) => desired.places.has(name) || open.vnets.has(name))
  return {
    accounts,
    ranges: Object.fromEntries(ranges),
    vnets: desired.networks === "unknown" ? held.vnets : vnets.map(([, vnet]) => vnet),
    ...(held.unsettled === true && left.length > 0 ? { unsettled: true } : {}),
  }
}

const notesAtMost = 100

/** The held state with the notes of the last comparison. */
export const heldWithNotes = (held: HeldAccess, notes: readonly string[]): HeldAccess => {
  const { notes: _, ...rest } = held
  return notes.length === 0 ? rest : { ...rest, notes: notes.slice(0, notesAtMost) }
}

/** The held state after an account's password was set and its other rights restored. */
export const heldWithPassword = (held: HeldAccess, account: AccountId, password: string): HeldAccess => ({
  ...held,
  accounts: { ...held.accounts, [account]: { admin: held.accounts[account]?.admin ?? false, password } },
})

/** The held state once the service knows of an account; a new one is recorded with this password version. */
export const heldAsKnown = (held: HeldAccess, account: AccountId, password: string): HeldAccess =>
  held.accounts[account] === undefined ? heldWithPassword(held, account, password) : held

/** The held state after an account's other rights were restored. */
export const heldRestored = (held: HeldAccess, account: AccountId): HeldAccess => {
  const known = held.accounts[account]
  if (known === undefined) return held
  return { ...held, accounts: { ...held.accounts, [account]: { admin: known.admin, password: known.password } } }
}

/** The changes that the hypervisor does not have yet, as far as the service knows without asking it. */
export interface PendingAccess {
  /** Accounts, ranges and administrator rights that still exist there but are revoked here. */
  readonly revocations: readonly string[]
  readonly others: readonly string[]
}

/** The differences between what is stored and what the hypervisor was given; shown while it cannot be compared. */
export const pendingAccess = (held: HeldAccess, desired: DesiredAccess): PendingAccess => {
  const revocations: string[] = []
  const others: string[] = []
  for (const id of distinctIds<RangeId>(Object.keys(held.ranges), desired.ranges.keys())) {
    const had = new Set(holders(held.ranges, id))
    const has = new Set(desired.ranges.get(id)?.accounts ?? [])
    for (const account of had) if (!has.has(account)) revocations.push(`${account} still has rights on ${id}`)
    if (desired.ranges.get(id)?.leaving === true) continue
    for (const account of has) if (!had.has(account)) others.push(`${account} has no rights on ${id} yet`)
  }
  // VNets of a range that is gone or was recreated with another number; before the cluster has been seen, only pools are places
  const left = desired.networks === "unknown" ? [] : held.vnets.filter((vnet) => !desired.places.has(placeText(vnet)))
  for (const vnet of left) revocations.push(`rights on ${placeText(vnet)} still exist`)
  for (const [account, { admin }] of Object.entries(held.accounts) as [AccountId, HeldAccount][]) {
    const wanted = desired.accounts.get(account)
    if (wanted === undefined) revocations.push(`${account} still exists`)
    else if (admin && !wanted.admin) revocations.push(`${account} is still an administrator`)
    else if (wanted.admin && !admin) others.push(`${account} is not an administrator yet`)
  }
  for (const [account, { passwordVersion }] of desired.accounts) {
    const known = held.accounts[account]
    if (known === undefined) others.push(`${account} does not exist yet`)
    else if (hasPassword(account) && known.password !== passwordVersion)
      others.push(`${account} does not have its new password yet`)
  }
  if (held.unsettled === true && revocations.length + others.length === 0)
    others.push("a change has started, and it is not known whether it has finished")
  return { revocations, others }
}
