import { isScopedKeyId, type ScopedKey } from "@rangewright/domain"
import { id, key, optional, reference, short, text, time } from "../schema/column.ts"
import { rangeId, userId } from "../schema/ids.ts"
import { type StoredRow, table } from "../schema/table.ts"
import { ranges } from "./range.ts"
import { users } from "./user.ts"

/** Additional API keys of users. A key without a range is read-only. */
export const scopedKeys = table("scoped_keys", {
  id: key(id("the id of an API key", (value: string): value is string => isScopedKeyId(value), { type: "string", length: 12 })),
  userId: reference(() => users.entity, userId),
  name: text,
  hash: short(64),
  rangeId: optional(reference(() => ranges.entity, rangeId)),
  createdAt: time,
  expiresAt: time,
})

const read = scopedKeys.reader()

export const toScopedKey = (row: StoredRow): ScopedKey => {
  const { rangeId: of, ...rest } = read(row)
  return { ...rest, scope: of === undefined ? { kind: "read" } : { kind: "range", rangeId: of } }
}

export const scopedKeyRow = ({ scope, ...rest }: ScopedKey) =>
  scopedKeys.write({ ...rest, rangeId: scope.kind === "range" ? scope.rangeId : undefined })
