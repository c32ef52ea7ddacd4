import type { RangeId, RecordId, UserId } from "./ids.ts"

/** A user of the service. Secrets are separate (`UserSecrets`), so that nothing with a `User` can leak one. */
export interface User {
  readonly id: UserId
  readonly recordId: RecordId
  /** From 2 to 150; the user's VPN address ends in it. ROOT has 1. */
  readonly number: number
  readonly name: string
  readonly email: string
  readonly isAdmin: boolean
  readonly hypervisorUsername: string
  /** `pve` unless the installation manages system accounts over SSH. */
  readonly hypervisorRealm: string
  readonly defaultRangeId: RangeId | undefined
  readonly hasCompletedOnboarding: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly lastActiveAt: Date | undefined
}

/** The given properties of a new user; the others have initial values. */
export type UserDraft = Pick<
  User,
  "id" | "recordId" | "name" | "email" | "isAdmin" | "hypervisorUsername" | "hypervisorRealm" | "createdAt"
>

export const newlyMadeUser = (
  { id, recordId, name, email, isAdmin, hypervisorUsername, hypervisorRealm, createdAt }: UserDraft,
  number: number,
): User => ({
  id,
  recordId,
  number,
  name,
  email,
  isAdmin,
  hypervisorUsername,
  hypervisorRealm,
  createdAt,
  defaultRangeId: undefined,
  hasCompletedOnboarding: false,
  updatedAt: createdAt,
  lastActiveAt: undefined,
})

/** A user's secrets for authentication. Never leaves the application. */
export interface UserSecrets {
  /** Keyed hash of the whole API key, hex; undefined when the user has none. */
  readonly apiKeyHash: string | undefined
  /** Sealed hypervisor password, which is also the login password; undefined for ROOT. */
  readonly sealedPassword: string | undefined
  /** Random key that signs the user's tokens; changing it invalidates all of them. */
  readonly tokenKey: string
}

/** The stored secret that a sign-in was checked against; for a sign-in through an identity provider, which checks none, the token key. */
export type SecretSeen = Pick<UserSecrets, "apiKeyHash"> | Pick<UserSecrets, "sealedPassword"> | Pick<UserSecrets, "tokenKey">

/** Whether the secret has not been replaced since. */
export const isSecretStill = (secrets: UserSecrets, seen: SecretSeen): boolean =>
  "apiKeyHash" in seen
    ? secrets.apiKeyHash === seen.apiKeyHash
    : "sealedPassword" in seen
      ? secrets.sealedPassword === seen.sealedPassword
      : secrets.tokenKey === seen.tokenKey

/** How a user has access to a range. */
export type AccessType = "Direct" | "Group Member" | "Group Manager"

/** One path by which one user has one range. */
export interface Grant {
  readonly userId: UserId
  readonly userNumber: number
  readonly name: string
  readonly rangeId: RangeId
  readonly accessType: AccessType
}

/** The minimum access that an operation requires; administrators always have it (contract README, `x-access`). */
export type Access = "anonymous" | "user" | RangeAccess | "group-manager" | "admin"

/** Access to a range: for everybody who has it, or only for those who have it directly or manage a group that has it. */
export type RangeAccess = "range-access" | "range-owner"

/** The name of a user's account on the hypervisor: lower case, only letters, digits, `.`, `_` and `-`, beginning with a letter. */
export const hypervisorUsernameOf = (name: string, userId: UserId): string => {
  const plain = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\s+/gu, "-")
    .replace(/[^a-z0-9._-]/gu, "")
    .replace(/^[^a-z]+/u, "")
    .slice(0, 48)
  return plain === "" ? userId.toLowerCase() : plain
}
