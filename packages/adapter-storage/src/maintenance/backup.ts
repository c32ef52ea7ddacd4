import { open, rm } from "node:fs/promises"
import { backup, DatabaseSync } from "node:sqlite"
import { Conflict } from "@rangewright/domain"
import { StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { type Kysely, sql } from "kysely"
import { Database } from "../engine/database.ts"
import { migrationTable, type MigrationList, refuseNewer } from "../engine/migrate.ts"
import type { Tables } from "../schema/tables.ts"
import { storageFault } from "../engine/storage-fault.ts"
import { sqliteMigrations } from "../migrations/index.ts"
import { publishFile } from "./publish.ts"
import { copyRows, tablesInOrder } from "./rows.ts"

/** Pages copied in one turn of the event loop: 4 MiB, or 16 MiB of a file with the larger pages of older versions. */
const pagesPerTurn = 4_096

/** Removes a database file with the files that SQLite and the service keep beside it. */
export const removeDatabase = async (file: string): Promise<void> => {
  for (const suffix of ["", "-wal", "-shm", "-migration-lock"]) await rm(`${file}${suffix}`, { force: true })
}

const namesIn = (database: DatabaseSync, sql: string): readonly string[] =>
  database
    .prepare(sql)
    .all()
    .map((row) => String(row["name"]))

/**
 * Checks that a file is a complete database of ours, and not of a newer version; fails with the reason. `name`: the backup it belongs to,
 * for the fault.
 */
export const checkBackup = (
  file: string,
  name = file,
  migrations: MigrationList = sqliteMigrations,
): Effect.Effect<void, StorageFault> =>
  Effect.try({
    try: () => {
      const database = new DatabaseSync(file, { readOnly: true })
      try {
        const doing = `use the backup ${name}`
        if (database.prepare("pragma quick_check(1)").get()?.["quick_check"] !== "ok")
          throw new StorageFault({ doing, because: "the file is damaged" })
        if (!namesIn(database, "select name from sqlite_master where type = 'table'").includes(migrationTable))
          throw new StorageFault({ doing, because: "the file is not a backup of this service" })
        refuseNewer(namesIn(database, `select name from ${migrationTable}`), migrations, `the backup ${name}`)
      } finally {
        database.close()
      }
    },
    catch: (cause) => storageFault(`read the backup ${name}`, cause),
  })

/** Reads from one snapshot, without what others write meanwhile. */
const atOneMoment = (server: Kysely<Tables>, read: (db: Kysely<Tables>) => Promise<void>): Promise<void> =>
  server.connection().execute(async (db) => {
    await sql`begin isolation level repeatable read read only`.execute(db)
    try {
      await read(db)
    } finally {
      await sql`rollback`.execute(db)
    }
  })

/** Copies all rows of a server's database, as of one moment, into a new SQLite file. */
const copyOfServer = (database: Database["Service"], doing: string, file: string): Effect.Effect<void, StorageFault> =>
  Effect.gen(function* () {
    // loaded on demand: a service on PostgreSQL otherwise never loads it
    const { sqliteLayer } = yield* Effect.tryPromise({
      try: () => import("../engine/sqlite.ts"),
      catch: (cause) => storageFault(doing, cause),
    })
    const fill = Effect.gen(function* () {
      const copy = yield* Database
      const server = yield* database.read(doing, (db) => Promise.resolve(db))
      const tables = tablesInOrder(file)
      yield* copy.write(doing, (tx) => tx((to) => atOneMoment(server, (from) => copyRows(from, to, tables))))
    })
    yield* Effect.provide(fill, sqliteLayer(file), { local: true })
  })

/**
 * Copies the whole database into a new SQLite file, consistently, while the service runs. The file is either complete or absent, and
 * readable by its owner only (it holds sealed secrets and key hashes, but not the key that opens them).
 */
export const backupTo = (file: string): Effect.Effect<void, Conflict | StorageFault, Database> =>
  Effect.gen(function* () {
    const doing = `back up to ${file}`
    const database = yield* Database
    const partial = `${file}.partial-${process.pid}`
    const attempt = <A>(run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: (cause) => storageFault(doing, cause) })
    const copyFile = (source: string) => async () => {
      await (await open(partial, "wx", 0o600)).close()
      const reader = new DatabaseSync(source, { readOnly: true, timeout: 5_000 })
      try {
        // SQLite starts a copy again whenever another connection commits, except inside a transaction, which sees one moment
        reader.exec("begin")
        reader.prepare("select count(*) from sqlite_master").get()
        await backup(reader, partial, { rate: pagesPerTurn })
      } finally {
        reader.close()
      }
    }
    const copied = database.file === undefined ? copyOfServer(database, doing, partial) : attempt(copyFile(database.file))
    const published = yield* copied.pipe(
      Effect.andThen(checkBackup(partial)),
      Effect.andThen(attempt(() => publishFile(partial, file))),
      Effect.ensuring(Effect.promise(() => removeDatabase(partial))),
    )
    if (!published)
      return yield* new Conflict({ what: `Cannot ${doing}: the file exists`, hint: "Name a new file, or remove that one." })
  })
