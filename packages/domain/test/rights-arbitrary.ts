/** What is stored from one moment to the next, and hypervisors on which others were before. Few names, so that things meet. */
import fc from "fast-check"
import {
  type AccessEntry,
  type AccessSubject,
  type AccountId,
  adminGroup,
  groupOfAccount,
  networkComment,
  type RangeId,
  type RightsOnNetworks,
  type StoredAccess,
  userGroup,
  type UserId,
  type Vmid,
} from "../src/index.ts"
import { grantedRoles, type Meddling, type ModelStart, otherRoles } from "./rights-model.ts"

/** Names of users' accounts as an attacker would choose them. */
export const accountNames = ["a.b@pve", "a-b@pve", "a.2e.b@pve", "constructor@pve", "x@pam"] as AccountId[]
export const rangeNames = ["constructor", "toString", "LAB", "LAB/__proto__"] as RangeId[]
const strangers = ["eve@pve", "a.b@pam", "a.b@pve!t@pve"] as AccountId[]
const everybody = [...accountNames, ...strangers]
const numbers = [1, 2, 3, 4, 5]
/** Each is always of the same range. */
const vmids = [101, 102, 103, 104] as Vmid[]
const othersVmid = 105

export const vnets: RightsOnNetworks = { type: "vnets", zone: "ludus" }

/** Users and ranges as they are after a change, but for the versions of their passwords. */
export interface StoredDraft {
  readonly users: readonly { readonly account: AccountId; readonly isAdmin: boolean; readonly isNew: boolean }[]
  readonly ranges: StoredAccess["ranges"]
}

const idOf = (account: AccountId): UserId => `user of ${account}` as UserId
const seldom = fc.nat(4).map((n) => n === 0)

export const draft: fc.Arbitrary<StoredDraft> = fc
  .record({
    users: fc
      .subarray([...accountNames])
      .chain((accounts) =>
        fc.tuple(...accounts.map((account) => fc.record({ account: fc.constant(account), isAdmin: seldom, isNew: seldom }))),
      ),
    ranges: fc.subarray([...rangeNames]),
    order: fc.shuffledSubarray(numbers, { minLength: numbers.length }),
    paths: fc.array(fc.record({ range: fc.nat(rangeNames.length - 1), account: fc.constantFrom(...accountNames) }), {
      maxLength: 8,
    }),
    leaving: fc.array(seldom, { minLength: rangeNames.length, maxLength: rangeNames.length }),
    renumbered: seldom,
    machines: fc.subarray(vmids),
  })
  .map(({ users, ranges, order, paths, leaving, renumbered, machines }) => ({
    users,
    ranges: ranges.map((id) => {
      const at = rangeNames.indexOf(id)
      const people = paths.filter((path) => path.range === at && users.some(({ account }) => account === path.account))
      return {
        id,
        number: renumbered ? order[at]! : at + 1,
        users: [...new Set(people.map(({ account }) => idOf(account)))].sort(),
        machines: machines.filter((vmid) => vmid === vmids[at]),
        leaving: leaving[at]!,
      }
    }),
  }))

/** What is stored at each moment: a version stays as long as the user and the password do. */
export const inTime = (drafts: readonly StoredDraft[]): readonly StoredAccess[] => {
  let before = new Map<AccountId, string>()
  return drafts.map(({ users, ranges }, moment) => {
    const now = new Map(users.map(({ account, isNew }) => [account, (isNew ? undefined : before.get(account)) ?? `${moment}`]))
    before = now
    return {
      users: users.map(({ account, isAdmin }) => ({ id: idOf(account), account, isAdmin, passwordVersion: now.get(account)! })),
      ranges,
    }
  })
}

const groups = ["students", userGroup, adminGroup, ...everybody.map(groupOfAccount)]
const paths = [
  ...[...rangeNames, "THEIRS"].map((id) => `/pool/${id}`),
  ...numbers.map((number) => `/sdn/zones/ludus/r${number}`),
  "/sdn/zones/ludus/theirs",
  "/sdn/zones/other/r1",
  "/vms",
  ...[...vmids, othersVmid].map((vmid) => `/vms/${vmid}`),
]
const subject: fc.Arbitrary<AccessSubject> = fc.oneof(
  fc.record({ type: fc.constant("user" as const), name: fc.constantFrom(...everybody) }),
  fc.record({ type: fc.constant("group" as const), name: fc.constantFrom(...groups) }),
  fc.record({ type: fc.constant("token" as const), name: fc.constantFrom(...everybody.map((id) => `${id}!t`)) }),
)
const entry: fc.Arbitrary<AccessEntry> = fc.record({
  path: fc.constantFrom(...paths),
  role: fc.constantFrom(...grantedRoles.pool, ...grantedRoles.vnet, ...otherRoles),
  subject,
  propagate: fc.nat(3).map((n) => n > 0),
})

/** A VNet: of a range of ours, of another installation's, or of nobody's. */
const vnet = fc.tuple(
  fc.constantFrom(...numbers).map((number) => `/sdn/zones/ludus/r${number}`),
  fc.constantFrom(...rangeNames.map(networkComment), ...rangeNames.map(networkComment), networkComment("OTHER" as RangeId), ""),
)

/** A hypervisor that others used before the service. Accounts may be there of the names that its users get. */
export const start: fc.Arbitrary<ModelStart> = fc.record({
  byToken: fc.boolean(),
  accounts: fc.uniqueArray(
    fc.tuple(fc.constantFrom(...everybody), fc.record({ ours: seldom, hasTokens: seldom, groups: fc.subarray([...groups]) })),
    { selector: ([id]) => id, maxLength: 4 },
  ),
  groups: fc.subarray(groups.slice(1)).map((some) => ["students", ...some]),
  pools: fc.subarray([...rangeNames]).map((some) => ["THEIRS" as RangeId, ...some]),
  entries: fc.array(entry, { maxLength: 8 }),
  vnets: fc.array(vnet, { maxLength: 6 }),
})

export const meddling: fc.Arbitrary<Meddling> = fc.record({
  entries: fc.array(entry, { maxLength: 4 }),
  members: fc.array(fc.tuple(fc.constantFrom(...everybody), fc.constantFrom(...groups)), { maxLength: 2 }),
  vnets: fc.array(
    fc.tuple(vnet, fc.boolean()).map(([[path, alias], isGone]) => [path, isGone ? undefined : alias] as const),
    { maxLength: 3 },
  ),
})

/** A run of the service, perhaps one that comes to no end. */
export interface Round {
  readonly draft: StoredDraft
  readonly networks: RightsOnNetworks
  /** Done by others before. */
  readonly meddling: Meddling
  /** How many changes are made; one more is begun. */
  readonly cut: number
  /** How that one ends: half made, or made and not written down. */
  readonly end: "half made" | "not noted"
  readonly isRepeated: boolean
  /** What is stored as of some change: `during`: it came while that one was made, not before. */
  readonly meanwhile: { readonly draft: StoredDraft; readonly at: number; readonly during: boolean } | undefined
}

const moment = fc.oneof(fc.nat(3), fc.nat(20), fc.constant(Number.POSITIVE_INFINITY))

export const round: fc.Arbitrary<Round> = fc.record({
  draft,
  networks: fc.constantFrom(vnets, vnets, vnets, { type: "unknown" as const }, { type: "bridges" as const }),
  meddling: fc.oneof(fc.constant({ entries: [], members: [], vnets: [] }), meddling),
  cut: moment,
  end: fc.constantFrom("half made", "not noted"),
  isRepeated: fc.boolean(),
  meanwhile: fc.option(fc.record({ draft, at: fc.nat(20), during: fc.boolean() }), { nil: undefined }),
})
