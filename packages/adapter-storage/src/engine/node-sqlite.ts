import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import { SqliteDialect, type SqliteStatement } from "kysely"

/**
 * Pages of 1 KiB: a commit writes whole pages, and most rows are small; a file that exists keeps the pages it was made with. WAL: readers and
 * the writer do not wait for each other. FULL: a commit that was acknowledged survives a loss of power. The log goes into the file every
 * 4,000 pages; one that a burst of writes made large is cut to 64 MiB. `foreign_keys` is set by the driver, at each connection.
 */
const pragmas = [
  // before the first write, or it is too late
  "page_size = 1024",
  "journal_mode = wal",
  "wal_autocheckpoint = 4000",
  "synchronous = full",
  "temp_store = memory",
  "trusted_schema = off",
  "journal_size_limit = 67108864",
]
/** While the database is opened and brought up to date. */
const busyTimeoutMillis = 5_000
/** Prepared statements kept; the least recently used goes first. */
const keptStatements = 200

let ran = 0
/** How many statements of this process may have committed something, over all of its connections that write. */
export const writesHere = (): number => ran

/** A value as SQLite takes it: it has no booleans. */
export const asSqlite = (value: unknown): SQLInputValue =>
  typeof value === "boolean" ? Number(value) : value === undefined ? null : (value as SQLInputValue)

const statementOf = (database: DatabaseSync, sql: string, prepared: StatementSync): SqliteStatement => ({
  reader: prepared.columns().length > 0,
  all: (parameters) => prepared.all(...parameters.map(asSqlite)),
  run: (parameters) => {
    // SQLite itself rolls back after some failures, a full disk among them: then nothing is left to do
    if (sql === "rollback" && !database.isTransaction) return { changes: 0, lastInsertRowid: 0 }
    try {
      const result = prepared.run(...parameters.map(asSqlite))
      ran += 1
      return result
    } catch (cause) {
      // a commit that fails may leave the transaction open, and the connection would never begin another
      if (sql === "commit" && database.isTransaction) database.exec("rollback")
      throw cause
    }
  },
  iterate: (parameters) => prepared.iterate(...parameters.map(asSqlite)),
})

/**
 * Kysely dialect on the SQLite that is built into Node (ADR 0003). It adds to MikroORM's own: the settings above, statements that are
 * prepared once, and transactions that always end.
 */
export const nodeSqlite = (file: string): SqliteDialect =>
  new SqliteDialect({
    database: async () => {
      const database = new DatabaseSync(file, { timeout: busyTimeoutMillis })
      for (const pragma of pragmas) database.exec(`pragma ${pragma}`)
      const kept = new Map<string, SqliteStatement>()
      return {
        prepare: (sql) => {
          const hit = kept.get(sql)
          const statement = hit ?? statementOf(database, sql, database.prepare(sql))
          kept.delete(sql)
          kept.set(sql, statement)
          const oldest = kept.keys().next().value
          if (kept.size > keptStatements && oldest !== undefined) kept.delete(oldest)
          return statement
        },
        close: () => database.close(),
      }
    },
  })
