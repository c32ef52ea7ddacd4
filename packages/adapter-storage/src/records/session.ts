import type { Session } from "@rangewright/domain"
import { key, reference, short, text, time, unique } from "../schema/column.ts"
import { recordId, userId } from "../schema/ids.ts"
import { type StoredRow, table } from "../schema/table.ts"
import { users } from "./user.ts"

/** Browsers in which users are signed in. */
export const sessions = table("sessions", {
  hash: key(short(64)),
  id: unique("sessions_id_unique", recordId),
  userId: reference(() => users.entity, userId),
  createdAt: time,
  lastSeenAt: time,
  remote: text,
  agent: text,
})

export const toSession: (row: StoredRow) => Session = sessions.reader()
