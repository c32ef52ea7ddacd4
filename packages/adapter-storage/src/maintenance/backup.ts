import { link, open, rm } from "node:fs/promises"
import { backup, DatabaseSync } from "node:sqlite"
import { Conflict } from "@rangewright/domain"
import { StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Database } from "../engine/database.ts"
import { migrationTable, type MigrationList, refuseNewer } from "../engine/migrate.ts"
import { storageFault } from "../engine/storage-fault.ts"
import { sqliteMigrations } from "../migrations/sqlite/index.ts"

/** Pages copied in one turn of the event loop: 16 MiB. */
const pagesPerTurn = 4_096

/** A database file with what SQLite and we keep beside it. */
export const removeDatabase = async (file: string): Promise<void> => {
  for (const suffix of ["", "-wal", "-shm", "-migration-lock"]) await rm(`${file}${suffix}`, { force: true })
}

/** SQLite's file; PostgreSQL has its own tools for this. */
export const fileOf = (database: Database["Service"], doing: string) =>
  database.file === undefined
    ? Effect.fail(
        new Conflict({
          what: `Cannot ${doing}: the data is in PostgreSQL`,
          hint: "Use the server's own tools: pg_dump --format=custom to back up, pg_restore to restore.",
        }),
      )
    : Effect.succeed(database.file)

const namesIn = (database: DatabaseSync, sql: string): readonly string[] =>
  database
    .prepare(sql)
    .all()
    .map((row) => String(row["name"]))

/** Makes sure that a file is a whole database of ours, not of a newer version; fails with the reason. */
export const checkBackup = (file: string, migrations: MigrationList = sqliteMigrations): Effect.Effect<void, StorageFault> =>
  Effect.try({
    try: () => {
      const database = new DatabaseSync(file, { readOnly: true })
      try {
        const doing = `use the backup ${file}`
        if (database.prepare("pragma quick_check(1)").get()?.["quick_check"] !== "ok")
          throw new StorageFault({ doing, because: "the file is damaged" })
        if (!namesIn(database, "select name from sqlite_master where type = 'table'").includes(migrationTable))
          throw new StorageFault({ doing, because: "the file is not a backup of this service" })
        refuseNewer(namesIn(database, `select name from ${migrationTable}`), migrations, `the backup ${file}`)
      } finally {
        database.close()
      }
    },
    catch: (cause) => storageFault(`read the backup ${file}`, cause),
  })

/**
 * Copies the whole database into a new file, consistently, while the service works; the file is complete or absent, and readable by its
 * owner only (it holds sealed secrets and key hashes; the key that opens them is not in it).
 */
export const backupTo = (file: string): Effect.Effect<void, Conflict | StorageFault, Database> =>
  Effect.gen(function* () {
    const doing = `back up to ${file}`
    const source = yield* fileOf(yield* Database, doing)
    const partial = `${file}.partial-${process.pid}`
    const attempt = <A>(run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: (cause) => storageFault(doing, cause) })
    const copy = async () => {
      await (await open(partial, "wx", 0o600)).close()
      const reader = new DatabaseSync(source, { readOnly: true, timeout: 5_000 })
      try {
        await backup(reader, partial, { rate: pagesPerTurn })
      } finally {
        reader.close()
      }
    }
    const publish = async (): Promise<boolean> => {
      await using handle = await open(partial, "r+")
      await handle.sync()
      // a link never replaces what is there
      return link(partial, file).then(
        () => true,
        (cause: NodeJS.ErrnoException) => {
          if (cause.code === "EEXIST") return false
          throw cause
        },
      )
    }
    const published = yield* attempt(copy).pipe(
      Effect.andThen(checkBackup(partial)),
      Effect.andThen(attempt(publish)),
      Effect.ensuring(Effect.promise(() => removeDatabase(partial))),
    )
    if (!published)
      return yield* new Conflict({ what: `Cannot ${doing}: the file exists`, hint: "Name a new file, or remove that one." })
  })
