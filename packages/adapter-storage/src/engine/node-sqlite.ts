import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite"
import { SqliteDialect, type SqliteStatement } from "kysely"

/**
 * Pages of 1 KiB: a commit writes whole pages, and most rows are small; an existing file keeps its page size. WAL: readers and the writer
 * do not block each other. FULL: an acknowledged commit survives a power failure. The log is checkpointed every 4,000 pages, and truncated
 * to 64 MiB after a burst of writes. `foreign_keys` is set by the driver on each connection.
 */
const pragmas = [
  // only takes effect before the first write
  "page_size = 1024",
  "journal_mode = wal",
  "wal_autocheckpoint = 4000",
  "synchronous = full",
  "temp_store = memory",
  "trusted_schema = off",
  "journal_size_limit = 67108864",
]
/** Used while the database is opened and migrated. */
const busyTimeoutMillis = 5_000
/** Number of prepared statements kept; the least recently used is evicted first. */
const keptStatements = 200

let ran = 0
/** How many statements of this process may have committed something, over all its writing connections. */
export const writesHere = (): number => ran

/** A value as SQLite accepts it: it has no booleans. */
export const asSqlite = (value: unknown): SQLInputValue =>
  typeof value === "boolean" ? Number(value) : value === undefined ? null : (value as SQLInputValue)

const statementOf = (database: DatabaseSync, sql: string, prepared: StatementSync): SqliteStatement => ({
  reader: prepared.columns().length > 0,
  all: (parameters) => prepared.all(...parameters.map(asSqlite)),
  run: (parameters) => {
    // SQLite itself rolls back after some failures, such as a full disk: then nothing is left to do
    if (sql === "rollback" && !database.isTransaction) return { changes: 0, lastInsertRowid: 0 }
    try {
      const result = prepared.run(...parameters.map(asSqlite))
      ran += 1
      return result
    } catch (cause) {
      // a failed commit may leave the transaction open, and the connection could never begin another
      if (sql === "commit" && database.isTransaction) database.exec("rollback")
      throw cause
    }
  },
  iterate: (parameters) => prepared.iterate(...parameters.map(asSqlite)),
})

/**
 * Kysely dialect for the SQLite built into Node (ADR 0003). It adds to MikroORM's own the settings above, statements that are prepared
 * once, and transactions that always end.
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
