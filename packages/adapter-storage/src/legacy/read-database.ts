import type { LegacyAccess, LegacyRange, LegacyUser } from "@rangewright/domain"
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"

type Row = Readonly<Record<string, unknown>>

const text = (row: Row, key: string): string => {
  const value = row[key]
  return typeof value === "string" ? value : typeof value === "number" || typeof value === "bigint" ? String(value) : ""
}
const flag = (row: Row, key: string): boolean => row[key] === 1n || row[key] === "1" || row[key] === "true"
const date = (row: Row, key: string): Date | undefined => {
  const at = new Date(text(row, key))
  // the zero time of the old service's language means never
  return Number.isNaN(at.getTime()) || at.getUTCFullYear() < 1970 ? undefined : at
}
const parts = (row: Row, key: string): readonly string[] =>
  text(row, key)
    .split("|")
    .map((part) => part.trim())
    .filter((part) => part !== "")

export interface LegacyRows {
  readonly users: readonly Omit<LegacyUser, "password" | "config">[]
  readonly ranges: readonly LegacyRange[]
  readonly access: readonly LegacyAccess[]
}

/** Reads the tables of the old database (contract C 14); a table that is missing is empty. Throws when the file is no database. */
export const readLegacyDatabase = (file: string): LegacyRows => {
  const folder = mkdtempSync(join(tmpdir(), "rangewright-legacy-"))
  try {
    return readCopy(copyInto(folder, file))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A copy with what is not yet written into it: reading the original would leave files beside it, and SQLite may finish its writes. */
const copyInto = (folder: string, file: string): string => {
  const copy = join(folder, "copy.db")
  copyFileSync(file, copy)
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`)
  return copy
}

const readCopy = (file: string): LegacyRows => {
  const database = new DatabaseSync(file, { allowExtension: false })
  try {
    const all = (sql: string): readonly Row[] => {
      const statement = database.prepare(sql)
      // a number that is too large for JavaScript is an odd value of its row, no end of the reading
      statement.setReadBigInts(true)
      return statement.all()
    }
    const tables = new Set(all("select name from sqlite_master where type = 'table'").map(({ name }) => String(name)))
    const rows = (table: string): readonly Row[] => (tables.has(table) ? all(`select * from ${table}`) : [])
    return {
      users: rows("user_objects").map((row) => ({
        id: text(row, "user_id"),
        name: text(row, "name"),
        isAdmin: flag(row, "is_admin"),
        apiKeyHash: text(row, "hashed_api_key"),
        hypervisorUsername: text(row, "proxmox_username"),
        createdAt: date(row, "date_created"),
      })),
      ranges: rows("range_objects").map((row) => ({
        userId: text(row, "user_id"),
        number: Number(row["range_number"]),
        testing: {
          enabled: flag(row, "testing_enabled"),
          allowedDomains: parts(row, "allowed_domains"),
          allowedIps: parts(row, "allowed_ips"),
        },
        lastDeploymentAt: date(row, "last_deployment"),
      })),
      access: rows("range_access_objects").map((row) => ({
        targetUserId: text(row, "target_user_id"),
        sourceUserIds: parts(row, "source_user_ids"),
      })),
    }
  } finally {
    database.close()
  }
}
