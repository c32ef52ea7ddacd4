import { open } from "node:fs/promises"
import { DatabaseSync, type StatementSync } from "node:sqlite"
import { Migrator } from "@mikro-orm/migrations"
import { MikroORM, SqliteDriver } from "@mikro-orm/sqlite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { monotonicMillis, StorageFault } from "@rangewright/ports"
import { sqliteMigrations } from "../migrations/index.ts"
import { entities } from "../schema/tables.ts"
import { Database, makeDatabase, type PreparedReads } from "./database.ts"
import { cachedReads } from "./cached-reads.ts"
import { migrateSqlite, type MigrationList, migrationOptions, type OlderData } from "./migrate.ts"
import { asSqlite, nodeSqlite } from "./node-sqlite.ts"
import { sharedCommits } from "./shared-commits.ts"
import { restoreRow, toStorable } from "./storable-text.ts"
import { storageFault } from "./storage-fault.ts"
import { readNow } from "./while-locked.ts"

/** MikroORM's SQLite driver on the dialect of ADR 0003. */
export const sqliteOrm = (file: string, migrations: MigrationList = sqliteMigrations): Promise<MikroORM> =>
  MikroORM.init({
    driver: SqliteDriver,
    entities: [...entities],
    extensions: [Migrator],
    ensureDatabase: false,
    dbName: file,
    driverOptions: () => nodeSqlite(file),
    migrations: migrationOptions(migrations),
  })

/**
 * Hot reads have a connection of their own: it sees every commit at once, waits for no writer, and answers in the same turn of the event
 * loop.
 */
const preparedOn =
  (reader: DatabaseSync): PreparedReads =>
  (doing, sql, meaning) => {
    let statement: StatementSync | undefined
    return (...parameters) =>
      readNow(doing, () => {
        statement ??= reader.prepare(sql)
        const values = parameters.map((value) => asSqlite(typeof value === "string" ? toStorable(value) : value))
        return meaning(statement.all(...values).map(restoreRow))
      })
  }

/** Opens the file, creating it if missing, and migrates it, or refuses an older one if told so. */
export const sqliteLayer = (file: string, migrations?: MigrationList, older?: OlderData): Layer.Layer<Database, StorageFault> =>
  Layer.effect(
    Database,
    Effect.gen(function* () {
      const doing = `open the database ${file}`
      if (file === ":memory:")
        return yield* new StorageFault({ doing, because: "only a file is shared by its connections; use the in-memory adapter" })
      const opened = <A>(run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: (cause) => storageFault(doing, cause) })
      // it holds key hashes and sealed secrets; SQLite gives the files beside it the same mode
      yield* opened(async () => (await open(file, "a", 0o600)).close())
      const orm = yield* Effect.acquireRelease(
        opened(() => sqliteOrm(file, migrations)),
        (made) => Effect.promise(() => made.close()),
      )
      yield* opened(() => migrateSqlite(orm, file, migrations ?? sqliteMigrations, older))
      // from here on the process serves others: no call may wait for a lock inside SQLite any more
      yield* opened(() => orm.em.getConnection().execute("pragma busy_timeout = 0"))
      const reader = yield* Effect.acquireRelease(
        opened(async () => new DatabaseSync(file, { readOnly: true, timeout: 0 })),
        (made) => Effect.sync(() => made.close()),
      )
      const prepared = preparedOn(reader)
      return makeDatabase(orm, {
        name: "sqlite",
        file,
        transactions: sharedCommits,
        prepared,
        cachedRead: cachedReads(reader, prepared),
        lockWriter: () => Effect.void,
        steadyMillis: () => monotonicMillis,
        // nobody can set it
        steadyFor: () => Number.POSITIVE_INFINITY,
      })
    }),
  )
