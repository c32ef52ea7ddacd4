import type { User, UserSecrets } from "@rangewright/domain"
import { declared, flag, key, optional, short, text, time, unique, whole } from "../schema/column.ts"
import { rangeId, recordId, userId } from "../schema/ids.ts"
import { type StoredRow, table } from "../schema/table.ts"

export const users = table(
  "users",
  {
    id: key(userId),
    recordId: unique("users_record_unique", recordId),
    number: unique("users_number_unique", whole),
    name: text,
    email: text,
    /** Lower case; undefined when the user has no address. */
    emailKey: optional(unique("users_email_unique", short(1024))),
    isAdmin: flag,
    hypervisorUsername: short(255),
    hypervisorRealm: short(255),
    /** May refer to a deleted range. */
    defaultRangeId: optional(rangeId),
    hasCompletedOnboarding: flag,
    createdAt: time,
    updatedAt: time,
    lastActiveAt: optional(time),
    apiKeyHash: optional(text),
    sealedPassword: optional(text),
    /** Changes with every change of the password. */
    passwordVersion: declared(text, { default: "" }),
    tokenKey: text,
  },
  { uniques: [{ name: "users_account_unique", properties: ["hypervisorUsername", "hypervisorRealm"] }] },
)

export const toUser: (row: StoredRow) => User = users.reader({
  without: ["emailKey", "apiKeyHash", "sealedPassword", "passwordVersion", "tokenKey"],
})
export const toSecrets: (row: StoredRow) => UserSecrets = users.reader({ only: ["apiKeyHash", "sealedPassword", "tokenKey"] })

/** Numbers of deleted users, and when they were deleted. */
export const restingNumbers = table("resting_user_numbers", {
  number: key(declared(whole, { autoincrement: false })),
  since: time,
})
