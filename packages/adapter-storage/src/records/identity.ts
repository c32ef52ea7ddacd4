import type { Identity } from "@rangewright/domain"
import { declared, key, reference, short, time } from "../schema/column.ts"
import { userId } from "../schema/ids.ts"
import { type StoredRow, table } from "../schema/table.ts"
import { users } from "./user.ts"

/** Identities at the provider, and the users that they sign in as. */
export const identities = table(
  "identities",
  {
    issuer: key(short(512)),
    subject: key(short(255)),
    userId: declared(
      reference(() => users.entity, userId),
      { index: false },
    ),
    createdAt: time,
  },
  { uniques: [{ name: "identities_user_unique", properties: ["userId", "issuer"] }] },
)

export const toIdentity: (row: StoredRow) => Identity = identities.reader()

/** Sign-ins that were used and must not be used again. */
export const spentSignIns = table("spent_sign_ins", { hash: key(short(64)), expiresAt: time })
