import type { Brand } from "effect/Brand"
import { isRangeId, type RangeId, type UserId, type Vmid } from "../access/ids.ts"
import type { User } from "../access/user.ts"

/** An account on the hypervisor, `alice@pve`. */
export type AccountId = string & Brand<"AccountId">

export const accountIdOf = ({
  hypervisorUsername,
  hypervisorRealm,
}: Pick<User, "hypervisorUsername" | "hypervisorRealm">): AccountId => `${hypervisorUsername}@${hypervisorRealm}` as AccountId

/** The realm whose passwords the hypervisor stores itself. */
export const ownRealm = "pve"
export const realmOf = (account: AccountId): string => account.slice(account.lastIndexOf("@") + 1)
/** Whether the hypervisor stores the account's password and can set it. */
export const hasPassword = (account: AccountId): boolean => realmOf(account) === ownRealm

/** The hypervisor groups of all users and of administrators. The names are fixed: other tools grant rights to them. */
export const userGroup = "ludus_users"
export const adminGroup = "ludus_admins"

const accountGroupPrefix = "rangewright_"

/**
 * The personal group that has an account's rights on ranges, so that they outlive the account: a recreated account regains all of them
 * through its groups. The name consists of letters, digits, `.`, `_` and `-`, and is unique per account.
 */
export const groupOfAccount = (account: AccountId): string =>
  `${accountGroupPrefix}${account.replace(/[^A-Za-z0-9_-]/gu, (char) => `.${char.codePointAt(0)?.toString(16)}.`)}`

/** Whether the service manages a group's memberships. All other groups, and memberships in them, are left alone. */
export const isServiceGroup = (group: string): boolean =>
  group === userGroup || group === adminGroup || group.startsWith(accountGroupPrefix)

export interface VnetPlace {
  readonly type: "vnet"
  readonly zone: string
  readonly name: string
}

/** A machine of a range. Users of a machine can grant rights on it; the service itself grants none there. */
export interface MachinePlace {
  readonly type: "machine"
  readonly rangeId: RangeId
  readonly vmid: Vmid
}

/** The places with rights on a range: its pool, its VNet if it has one, and its machines. */
export type AccessPlace = { readonly type: "pool"; readonly rangeId: RangeId } | VnetPlace | MachinePlace

/** A unique key for a place, also used for display: `pool LAB`. */
export const placeText = (place: AccessPlace): string => {
  switch (place.type) {
    case "pool":
      return `pool ${place.rangeId}`
    case "vnet":
      return `VNet ${place.zone}/${place.name}`
    case "machine":
      return `machine ${place.vmid} of ${place.rangeId}`
  }
}

/** The place's path in the hypervisor's ACL. */
export const placePath = (place: AccessPlace): string => {
  switch (place.type) {
    case "pool":
      return `/pool/${place.rangeId}`
    case "vnet":
      return `/sdn/zones/${place.zone}/${place.name}`
    case "machine":
      return `/vms/${place.vmid}`
  }
}

/** The pool or VNet at a path, whether a range's or not; undefined for any other path. */
export const placeAt = (path: string): AccessPlace | undefined => {
  const pool = /^\/pool\/(.+)$/u.exec(path)?.[1]
  if (pool !== undefined) return isRangeId(pool) ? { type: "pool", rangeId: pool } : undefined
  const [, zone, name] = /^\/sdn\/zones\/([A-Za-z0-9]+)\/([A-Za-z0-9]+)$/u.exec(path) ?? []
  return zone === undefined || name === undefined ? undefined : { type: "vnet", zone, name }
}

/** The roles granted on a range's pool and VNet. All are built into Proxmox. */
export const poolRoles: readonly string[] = ["PVEVMAdmin", "PVESDNAdmin", "PVEPoolUser"]
export const vnetRoles: readonly string[] = ["PVESDNUser"]

const noRoles: readonly string[] = []

/** The roles that the service grants at a place. */
export const rolesAt = ({ type }: AccessPlace): readonly string[] =>
  type === "pool" ? poolRoles : type === "vnet" ? vnetRoles : noRoles

/** The holder of a right on the hypervisor. A token is `alice@pve!name`. */
export interface AccessSubject {
  readonly type: "user" | "group" | "token"
  readonly name: string
}

export const subjectName = ({ type, name }: AccessSubject): string => `${type} ${name}`

/** An entry of the hypervisor's ACL. */
export interface AccessEntry {
  readonly path: string
  readonly role: string
  readonly subject: AccessSubject
  /** Whether it applies below the path, too. */
  readonly propagate: boolean
}

/** A subject that loses rights at a place. Without `roles`: the ones that the service grants there. */
export interface RevokedSubject extends AccessSubject {
  readonly roles?: readonly string[]
}

/** The stored data that access follows from, read in one consistent snapshot. */
export interface StoredAccess {
  /** All users except ROOT, which has no account. */
  readonly users: readonly {
    readonly id: UserId
    readonly account: AccountId
    readonly isAdmin: boolean
    /** Changes whenever the password changes, and for a different user with the same account. */
    readonly passwordVersion: string
  }[]
  readonly ranges: readonly {
    readonly id: RangeId
    readonly number: number
    /** All users who have the range by any path. */
    readonly users: readonly UserId[]
    /** The machines in its pool as last seen, without templates. */
    readonly machines: readonly Vmid[]
    /** Whether a run is removing it: no more rights are granted on it. */
    readonly leaving: boolean
  }[]
}

/** Rights and memberships of an account that the service does not manage; they are restored when the account is recreated. */
export interface AccountKeep {
  readonly groups: readonly string[]
  readonly rights: readonly { readonly path: string; readonly role: string; readonly propagate: boolean }[]
}

/** What the service has put on the hypervisor, or may have. Written before anything is put there, so that nothing is ever forgotten. */
export interface HeldAccess {
  readonly accounts: Readonly<Record<AccountId, HeldAccount>>
  /** Range -> the accounts with rights on it. Each range has a pool. */
  readonly ranges: Readonly<Record<RangeId, readonly AccountId[]>>
  /** VNets with rights on them. A recreated range may have a different one. */
  readonly vnets: readonly VnetPlace[]
  /** A change has begun, and it is not known yet whether all of this exists. */
  readonly unsettled?: true
  /** What the last reconciliation could not fix, for display. */
  readonly notes?: readonly string[]
}

export interface HeldAccount {
  readonly admin: boolean
  /** The version that was set on the hypervisor; null if that is not certain. */
  readonly password: string | null
  /** The other rights of an account that is being recreated. */
  readonly keep?: AccountKeep
}

export const nothingHeld: HeldAccess = { accounts: {}, ranges: {}, vnets: [] }

/** The observed state of an account. */
export interface ObservedAccount {
  /** Whether the service created it. */
  readonly ours: boolean
  readonly groups: readonly string[]
  /** Why the service cannot set its password, phrased to follow "because"; undefined if it can. */
  readonly passwordObstacle: string | undefined
  /** Its groups that the service does not manage, and all its direct rights. */
  readonly keep: AccountKeep
}

/** The observed accounts, groups, pools and rights. Without the service's own account and its tokens. */
export interface ObservedAccess {
  readonly accounts: ReadonlyMap<AccountId, ObservedAccount>
  /** Group -> whether the service created it; likewise for pools. */
  readonly groups: ReadonlyMap<string, boolean>
  readonly pools: ReadonlyMap<RangeId, boolean>
  /** All VNets, applied or not: `placePath` -> alias. */
  readonly vnets: ReadonlyMap<string, string>
  readonly rights: readonly AccessEntry[]
}

/** A change of access on the hypervisor. Each can be repeated. */
export type AccessChange =
  | { readonly kind: "revoke"; readonly place: AccessPlace; readonly subjects: readonly RevokedSubject[] }
  | { readonly kind: "leave-groups"; readonly account: AccountId; readonly groups: readonly string[] }
  | { readonly kind: "remove-account"; readonly account: AccountId }
  | { readonly kind: "remove-group"; readonly group: string }
  | { readonly kind: "remove-pool"; readonly rangeId: RangeId }
  | { readonly kind: "create-group"; readonly group: string }
  | {
      readonly kind: "create-account"
      readonly account: AccountId
      readonly groups: readonly string[]
      readonly keep: AccountKeep
    }
  | { readonly kind: "join-groups"; readonly account: AccountId; readonly groups: readonly string[] }
  | { readonly kind: "set-password"; readonly account: AccountId; readonly groups: readonly string[]; readonly keep: AccountKeep }
  | { readonly kind: "restore"; readonly account: AccountId; readonly keep: AccountKeep }
  | { readonly kind: "create-pool"; readonly rangeId: RangeId }
  | { readonly kind: "grant"; readonly place: AccessPlace; readonly groups: readonly string[] }

export const nothingKept: AccountKeep = { groups: [], rights: [] }
