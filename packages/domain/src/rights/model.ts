import type { Brand } from "effect/Brand"
import { isRangeId, type RangeId, type UserId, type Vmid } from "../access/ids.ts"
import type { User } from "../access/user.ts"

/** An account on the hypervisor, `alice@pve`. */
export type AccountId = string & Brand<"AccountId">

export const accountIdOf = ({
  hypervisorUsername,
  hypervisorRealm,
}: Pick<User, "hypervisorUsername" | "hypervisorRealm">): AccountId => `${hypervisorUsername}@${hypervisorRealm}` as AccountId

/** The realm of which the hypervisor keeps the passwords itself. */
export const ownRealm = "pve"
export const realmOf = (account: AccountId): string => account.slice(account.lastIndexOf("@") + 1)
/** Whether the hypervisor keeps the account's password, and so takes a new one. */
export const hasPassword = (account: AccountId): boolean => realmOf(account) === ownRealm

/** Groups of everybody and of the administrators on the hypervisor. The names are facts of the wire: other tools grant rights to them. */
export const userGroup = "ludus_users"
export const adminGroup = "ludus_admins"

const accountGroupPrefix = "rangewright_"

/**
 * The group that has an account's rights on ranges. Rights outlive the account this way: one that is made again has all of them by its groups.
 * The name is letters, digits, `.`, `_` and `-`; no two accounts share one.
 */
export const groupOfAccount = (account: AccountId): string =>
  `${accountGroupPrefix}${account.replace(/[^A-Za-z0-9_-]/gu, (char) => `.${char.codePointAt(0)?.toString(16)}.`)}`

/** Whether the service decides who belongs to a group. All other groups are others', and so are memberships in them. */
export const isServiceGroup = (group: string): boolean =>
  group === userGroup || group === adminGroup || group.startsWith(accountGroupPrefix)

export interface VnetPlace {
  readonly type: "vnet"
  readonly zone: string
  readonly name: string
}

/** A machine of a range. Whoever may use it can write rights there; the service itself gives none. */
export interface MachinePlace {
  readonly type: "machine"
  readonly rangeId: RangeId
  readonly vmid: Vmid
}

/** Where rights on a range are: on its pool, on its VNet where it has one, and on its machines. */
export type AccessPlace = { readonly type: "pool"; readonly rangeId: RangeId } | VnetPlace | MachinePlace

/** Equal for equal places, and for no others; also the place for people: `pool LAB`. */
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

/** The place's path in the hypervisor's list of rights. */
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

/** The pool or VNet at a path, whether it is a range's or not; undefined: the path is of something else. */
export const placeAt = (path: string): AccessPlace | undefined => {
  const pool = /^\/pool\/(.+)$/u.exec(path)?.[1]
  if (pool !== undefined) return isRangeId(pool) ? { type: "pool", rangeId: pool } : undefined
  const [, zone, name] = /^\/sdn\/zones\/([A-Za-z0-9]+)\/([A-Za-z0-9]+)$/u.exec(path) ?? []
  return zone === undefined || name === undefined ? undefined : { type: "vnet", zone, name }
}

/** Roles on a range's pool, and on its VNet. All of them come with Proxmox. */
export const poolRoles: readonly string[] = ["PVEVMAdmin", "PVESDNAdmin", "PVEPoolUser"]
export const vnetRoles: readonly string[] = ["PVESDNUser"]

const noRoles: readonly string[] = []

/** The roles that the service grants at a place. */
export const rolesAt = ({ type }: AccessPlace): readonly string[] =>
  type === "pool" ? poolRoles : type === "vnet" ? vnetRoles : noRoles

/** Who has a right on the hypervisor. A token is `alice@pve!name`. */
export interface AccessSubject {
  readonly type: "user" | "group" | "token"
  readonly name: string
}

export const subjectName = ({ type, name }: AccessSubject): string => `${type} ${name}`

/** One entry of the hypervisor's list of rights. */
export interface AccessEntry {
  readonly path: string
  readonly role: string
  readonly subject: AccessSubject
  /** Whether it holds below the path too. */
  readonly propagate: boolean
}

/** Who loses rights at a place. Without `roles`: those that the service grants there. */
export interface RevokedSubject extends AccessSubject {
  readonly roles?: readonly string[]
}

/** What access follows from, as it is stored at one moment. */
export interface StoredAccess {
  /** Everybody but ROOT, who has no account. */
  readonly users: readonly {
    readonly id: UserId
    readonly account: AccountId
    readonly isAdmin: boolean
    /** Another one whenever the password changes, and for another user of the same account. */
    readonly passwordVersion: string
  }[]
  readonly ranges: readonly {
    readonly id: RangeId
    readonly number: number
    /** Everybody who has the range by any path. */
    readonly users: readonly UserId[]
    /** The machines in its pool, as they were last seen; no templates. */
    readonly machines: readonly Vmid[]
    /** Whether a run removes it: it gets no rights any more. */
    readonly leaving: boolean
  }[]
}

/** Rights and memberships of an account that are not the service's, as the hypervisor has them; they come back with an account made again. */
export interface AccountKeep {
  readonly groups: readonly string[]
  readonly rights: readonly { readonly path: string; readonly role: string; readonly propagate: boolean }[]
}

/** What the service has put on the hypervisor, or may have. Written before anything is put there, so that nothing is ever forgotten. */
export interface HeldAccess {
  readonly accounts: Readonly<Record<AccountId, HeldAccount>>
  /** By range: who has rights on it. Each has a pool. */
  readonly ranges: Readonly<Record<RangeId, readonly AccountId[]>>
  /** VNets with rights on them. A range that is made again may have another one. */
  readonly vnets: readonly VnetPlace[]
  /** A change was begun, and it is not known yet that all of this is there. */
  readonly unsettled?: true
  /** What the last comparison could not bring in line, for people. */
  readonly notes?: readonly string[]
}

export interface HeldAccount {
  readonly admin: boolean
  /** The version that the hypervisor was given; null: it is not certain that it has one. */
  readonly password: string | null
  /** What an account that is being made again had. */
  readonly keep?: AccountKeep
}

export const nothingHeld: HeldAccess = { accounts: {}, ranges: {}, vnets: [] }

/** An account as the hypervisor has it. */
export interface ObservedAccount {
  /** Whether the service made it. */
  readonly ours: boolean
  readonly groups: readonly string[]
  /** Why the service cannot set its password, to follow "because"; undefined: it can. */
  readonly passwordObstacle: string | undefined
  /** Its groups that are not the service's, and all its own rights. */
  readonly keep: AccountKeep
}

/** Accounts, groups, pools and rights as the hypervisor has them. The service's own account and its tokens are left out. */
export interface ObservedAccess {
  readonly accounts: ReadonlyMap<AccountId, ObservedAccount>
  /** Whether the service made each, as of the pools. */
  readonly groups: ReadonlyMap<string, boolean>
  readonly pools: ReadonlyMap<RangeId, boolean>
  /** The VNets that are there, in force or not: their aliases by `placePath`. */
  readonly vnets: ReadonlyMap<string, string>
  readonly rights: readonly AccessEntry[]
}

/** One change of access on the hypervisor. Each may be repeated. */
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
