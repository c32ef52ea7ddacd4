import { StorageFault } from "@rangewright/ports"
import { DamagedRow } from "../schema/table.ts"

/** What SQLite's primary result codes mean to an operator. */
const sqliteReasons: Readonly<Record<number, string>> = {
  5: "the database is locked by another process",
  6: "the database is locked",
  8: "the database or its folder is read-only",
  10: "the disk cannot be read or written",
  11: "the database file is damaged: restore a backup",
  13: "the disk is full",
  14: "the database file cannot be opened",
  26: "the file is not a database",
}

/** What PostgreSQL's SQLSTATE classes and Node's network errors mean to an operator. */
const serverReasons: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/u, "the database server refuses connections"],
  [/^(ENOTFOUND|EAI_AGAIN)$/u, "the database server's name is unknown"],
  [/^(ECONNRESET|EPIPE|ETIMEDOUT|08...|57P0.)$/u, "the connection to the database server is lost"],
  [/^28...$/u, "the database server refuses the service's credentials"],
  [/^3D...$/u, "the database does not exist"],
  [/^53100$/u, "the database server's disk is full"],
  [/^53...$/u, "the database server is out of resources"],
  [/^25006$/u, "the database is read-only"],
]

const facts = (cause: unknown): { readonly code: string; readonly errcode: number; readonly message: string } => {
  const error = cause instanceof Error ? cause : new Error(String(cause))
  return {
    code: "code" in error && typeof error.code === "string" ? error.code : "",
    errcode: "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : 0,
    message: error.message.split("\n")[0] ?? "",
  }
}

/** The fault of a failed query. Uses the database's own message when nothing better is known; values are bound, so SQL reveals none. */
export const storageFault = (doing: string, cause: unknown): StorageFault => {
  if (cause instanceof StorageFault) return cause
  if (cause instanceof DamagedRow) return new StorageFault({ doing, because: cause.message, damaged: true })
  const { code, errcode, message } = facts(cause)
  const because = sqliteReasons[errcode] ?? serverReasons.find(([pattern]) => pattern.test(code))?.[1] ?? message
  return new StorageFault({ doing, because })
}

/** A deadlock, a serialization failure, or a foreign key to a row that another transaction removed. */
const passing = ["40P01", "40001", "23503"]

/** Two transactions conflicted and PostgreSQL ended one: it may run again, and then sees what the other one did. */
export const isTransient = (cause: unknown): boolean => passing.includes(facts(cause).code)

/** SQLite: another connection holds the lock. */
export const isLocked = (cause: unknown): boolean => [5, 6].includes(facts(cause).errcode)
