import type { LegacyAccess, LegacyInstallation, LegacyMachine, LegacyRange, LegacyUser } from "@rangewright/domain"
import { DatabaseSync } from "node:sqlite"

/** More rows than any installation has; a table with more is not one of ours. */
const rowsAtMost = 20_000
/** Bytes of a field. The longest real ones are lists of allowed domains. */
const textAtMost = 32_768

/** The tables and columns. A missing column is empty in every row. */
const tables = {
  user_objects: ["name", "user_id", "date_created", "is_admin", "hashed_api_key", "proxmox_username"],
  range_objects: [
    "user_id",
    "range_number",
    "last_deployment",
    "testing_enabled",
    "allowed_domains",
    "allowed_ips",
    "range_state",
  ],
  vm_objects: ["proxmox_id", "range_number", "name", "powered_on", "ip"],
  range_access_objects: ["target_user_id", "source_user_ids"],
} as const
type Table = keyof typeof tables

type Row = Readonly<Record<string, unknown>>

const text = (row: Row, key: string): string => {
  const value = row[key]
  return typeof value === "string" ? value : typeof value === "number" || typeof value === "bigint" ? String(value) : ""
}
const flag = (row: Row, key: string): boolean => ["1", "true"].includes(text(row, key).toLowerCase())
/** NaN for anything but a number; callers refuse it. */
const whole = (row: Row, key: string): number => (text(row, key).trim() === "" ? Number.NaN : Number(text(row, key)))

const timePattern = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d{1,3})?\d*(?:\s*(Z|[+-]\d\d):?(\d\d)?)?/u
/** A time in the format of the old service's language; undefined for its zero time, which means never. */
const time = (row: Row, key: string): Date | undefined => {
  const [, day, clock, fraction = "", zone = "Z", minutes = "00"] = timePattern.exec(text(row, key)) ?? []
  const at = new Date(`${day}T${clock}${fraction}${zone === "Z" ? zone : `${zone}:${minutes}`}`)
  return Number.isNaN(at.getTime()) || at.getUTCFullYear() < 1970 ? undefined : at
}
const parts = (row: Row, key: string): readonly string[] =>
  text(row, key)
    .split("|")
    .map((part) => part.trim())
    .filter((part) => part !== "")

export interface LegacyRows extends Pick<LegacyInstallation, "ranges" | "machines" | "access" | "unread"> {
  readonly users: readonly Omit<LegacyUser, "password" | "config" | "unread">[]
}

const userOf = (row: Row): LegacyRows["users"][number] => ({
  id: text(row, "user_id"),
  name: text(row, "name"),
  isAdmin: flag(row, "is_admin"),
  apiKeyHash: text(row, "hashed_api_key"),
  hypervisorUsername: text(row, "proxmox_username"),
  createdAt: time(row, "date_created"),
})

const rangeOf = (row: Row): LegacyRange => ({
  userId: text(row, "user_id"),
  number: whole(row, "range_number"),
  state: text(row, "range_state"),
  testing: {
    enabled: flag(row, "testing_enabled"),
    domains: parts(row, "allowed_domains"),
    addresses: parts(row, "allowed_ips"),
  },
  lastDeploymentAt: time(row, "last_deployment"),
})

const machineOf = (row: Row): LegacyMachine => ({
  vmid: whole(row, "proxmox_id"),
  rangeNumber: whole(row, "range_number"),
  name: text(row, "name"),
  poweredOn: flag(row, "powered_on"),
  address: text(row, "ip"),
})

const accessOf = (row: Row): LegacyAccess => ({
  targetUserId: text(row, "target_user_id"),
  sourceUserIds: parts(row, "source_user_ids"),
})

/**
 * Reads the tables of the old database, in the order in which their rows were written. A missing table is empty and named in `unread`.
 * Throws when the file is not a database. Use on copies only: opening the file may complete a transaction that the old service left in it.
 */
export const readLegacyDatabase = (file: string): LegacyRows => {
  const database = new DatabaseSync(file, { allowExtension: false })
  const unread: string[] = []
  try {
    // functions in the schema of an untrusted file must not be trusted
    database.exec("pragma trusted_schema = off")
    const rows = (table: Table): readonly Row[] => {
      const found = readTable(database, table)
      if (found === undefined) unread.push(`the table ${table}: the database has none`)
      if ((found?.length ?? 0) > rowsAtMost) unread.push(`the table ${table}: only its first ${rowsAtMost} rows were read`)
      return found?.slice(0, rowsAtMost) ?? []
    }
    return {
      users: rows("user_objects").map(userOf),
      ranges: rows("range_objects").map(rangeOf),
      machines: rows("vm_objects").map(machineOf),
      access: rows("range_access_objects").map(accessOf),
      unread,
    }
  } finally {
    database.close()
  }
}

/** Reads one row more than the limit, to detect a longer table. Undefined when there is no such table; views do not count. */
const readTable = (database: DatabaseSync, table: Table): readonly Row[] | undefined => {
  if (database.prepare("select 1 from sqlite_master where type = 'table' and name = ?").get(table) === undefined) return undefined
  const there = new Set(
    database
      .prepare("select name from pragma_table_info(?)")
      .all(table)
      .map(({ name }) => name),
  )
  // the database truncates large fields, before they reach memory here
  const columns = tables[table]
    .filter((name) => there.has(name))
    .map((name) => `iif(octet_length(${name}) > ${textAtMost}, substr(${name}, 1, ${textAtMost}), ${name}) as ${name}`)
  if (columns.length === 0) return []
  const rows = database.prepare(`select ${columns.join(", ")} from ${table} limit ${rowsAtMost + 1}`)
  // a number too large for JavaScript makes its row odd, but must not end the reading
  rows.setReadBigInts(true)
  return rows.all()
}
