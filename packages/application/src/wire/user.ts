import { type Amounts, type Group, noAmounts, type Range, type User } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { AnyObject, recordTime, wireTime } from "./common.ts"
import { RangeRecord } from "./range-record.ts"

/** A user in lists. Quotas are included if the user has own limits. */
export const UserObject = Schema.Struct({
  name: Schema.String,
  userID: Schema.String,
  userNumber: Schema.optionalKey(Schema.Int),
  dateCreated: Schema.String,
  dateLastActive: Schema.String,
  isAdmin: Schema.Boolean,
  proxmoxUsername: Schema.optionalKey(Schema.String),
  quotaRAM: Schema.optionalKey(Schema.Int),
  quotaCPU: Schema.optionalKey(Schema.Int),
  quotaVMs: Schema.optionalKey(Schema.Int),
  quotaRanges: Schema.optionalKey(Schema.Int),
}).annotate({ identifier: "UserObject" })

/** The user's own limits that are set. */
const ownQuotas = ({ ram, cpus, vms, ranges }: Amounts) => ({
  ...(ram === 0 ? {} : { quotaRAM: ram }),
  ...(cpus === 0 ? {} : { quotaCPU: cpus }),
  ...(vms === 0 ? {} : { quotaVMs: vms }),
  ...(ranges === 0 ? {} : { quotaRanges: ranges }),
})

export const userObject = (user: User, limits: Amounts = noAmounts): typeof UserObject.Type => ({
  name: user.name,
  userID: user.id,
  userNumber: user.number,
  dateCreated: wireTime(user.createdAt),
  dateLastActive: wireTime(user.lastActiveAt),
  isAdmin: user.isAdmin,
  proxmoxUsername: user.hypervisorUsername,
  ...ownQuotas(limits),
})

/** A user in the record API and in `/whoami`; `email` only for the user and administrators. */
export const UserRecord = Schema.Struct({
  id: Schema.String,
  collectionId: Schema.String,
  collectionName: Schema.String,
  created: Schema.String,
  updated: Schema.String,
  name: Schema.String,
  avatar: Schema.String,
  email: Schema.optionalKey(Schema.String),
  emailVisibility: Schema.Boolean,
  verified: Schema.Boolean,
  userID: Schema.String,
  userNumber: Schema.Int,
  lastActive: Schema.String,
  isAdmin: Schema.Boolean,
  hasCompletedOnboarding: Schema.Boolean,
  proxmoxUsername: Schema.String,
  proxmoxRealm: Schema.String,
  quotaRAM: Schema.Int,
  quotaCPU: Schema.Int,
  quotaStorage: Schema.Int,
  quotaVMs: Schema.Int,
  quotaRanges: Schema.Int,
  defaultRangeID: Schema.String,
  ranges: Schema.Array(Schema.String),
  groups: Schema.Array(Schema.String),
  /** The records of `ranges` and `groups`, if the operation looks them up. */
  expand: Schema.optionalKey(
    Schema.Struct({ ranges: Schema.optionalKey(Schema.Array(RangeRecord)), groups: Schema.optionalKey(Schema.Array(AnyObject)) }),
  ),
}).annotate({ identifier: "UserRecord" })

/** `ranges`: those that the user has directly; `groups`: those that the user is in; `limits`: the user's own, 0 when unset. */
export const userRecord = (
  user: User,
  {
    ranges,
    groups,
    limits,
  }: {
    readonly ranges: readonly Pick<Range, "recordId">[]
    readonly groups: readonly Pick<Group, "recordId">[]
    readonly limits: Amounts
  },
  options: { readonly withEmail: boolean },
): typeof UserRecord.Type => ({
  id: user.recordId,
  collectionId: "_pb_users_auth_",
  collectionName: "users",
  created: recordTime(user.createdAt),
  updated: recordTime(user.updatedAt),
  name: user.name,
  avatar: "",
  ...(options.withEmail ? { email: user.email } : {}),
  emailVisibility: false,
  verified: true,
  userID: user.id,
  userNumber: user.number,
  lastActive: recordTime(user.lastActiveAt),
  isAdmin: user.isAdmin,
  hasCompletedOnboarding: user.hasCompletedOnboarding,
  proxmoxUsername: user.hypervisorUsername,
  proxmoxRealm: user.hypervisorRealm,
  quotaRAM: limits.ram,
  quotaCPU: limits.cpus,
  quotaStorage: 0,
  quotaVMs: limits.vms,
  quotaRanges: limits.ranges,
  defaultRangeID: user.defaultRangeId ?? "",
  ranges: ranges.map((r) => r.recordId),
  groups: groups.map((g) => g.recordId),
})
