import type { ConsoleTicket } from "@rangewright/ports"
import { key, optional, reference, short, text, time } from "../schema/column.ts"
import { rangeId, userId, vmid } from "../schema/ids.ts"
import { type StoredRow, table } from "../schema/table.ts"
import { ranges } from "./range.ts"
import { users } from "./user.ts"

/** Unused tickets to open a console. */
export const consoleTickets = table("console_tickets", {
  hash: key(short(64)),
  callerId: reference(() => users.entity, userId),
  userId: reference(() => users.entity, userId),
  rangeId: reference(() => ranges.entity, rangeId),
  vmid,
  origin: optional(text),
  expiresAt: time,
})

export const toConsoleTicket: (row: StoredRow) => ConsoleTicket = consoleTickets.reader()
