import { copyFile } from "node:fs/promises"
import { DatabaseSync } from "node:sqlite"
import type { Conflict } from "@rangewright/domain"
import type { StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Database } from "../engine/database.ts"
import { storageFault } from "../engine/storage-fault.ts"
import { entities } from "../schema/entities.ts"
import { checkBackup, fileOf, removeDatabase } from "./backup.ts"

/** Brings a copy of the backup to this version's schema and to what `prepare` makes of it; the backup itself is not touched. */
const prepareCopy = <E>(doing: string, backupFile: string, copy: string, prepare: Effect.Effect<void, E, Database>) =>
  Effect.gen(function* () {
    // loaded when it is needed: a service on PostgreSQL never is
    const { sqliteLayer } = yield* Effect.tryPromise({
      try: async () => {
        await copyFile(backupFile, copy)
        return import("../engine/sqlite.ts")
      },
      catch: (cause) => storageFault(doing, cause),
    })
    yield* Effect.provide(prepare, sqliteLayer(copy), { local: true })
  })

/** One transaction: all rows of all tables are those of the copy, or nothing has changed. */
const replaceRows = (file: string, copy: string): void => {
  const database = new DatabaseSync(file, { timeout: 5_000 })
  try {
    database.exec("pragma synchronous = full")
    database.prepare("attach database ? as backup").run(copy)
    database.exec("begin immediate")
    try {
      database.exec("pragma defer_foreign_keys = on")
      const before = database
        .prepare("select value, (select coalesce(max(generation), 0) from runs) as generation from revision where id = 1")
        .get()
      for (const { tableName } of entities) database.exec(`delete from main.${tableName}`)
      for (const { tableName } of entities) {
        const columns = database.prepare(`select name from pragma_table_info('${tableName}')`).all()
        const names = columns.map((column) => String(column["name"])).join(", ")
        database.exec(`insert into main.${tableName} (${names}) select ${names} from backup.${tableName}`)
      }
      // the revision never shows a number again under which somebody has seen other data, and no worker of today holds a restored run
      database.prepare("update revision set value = max(value, ?) + 1 where id = 1").run(Number(before?.["value"]))
      database
        .prepare(
          "update runs set generation = generation + ? + 1, lease_owner = null, lease_until = null where status = 'running'",
        )
        .run(Number(before?.["generation"]))
      database.exec("commit")
    } catch (cause) {
      if (database.isTransaction) database.exec("rollback")
      throw cause
    }
  } finally {
    database.close()
  }
}

/**
 * Makes the data what a backup holds, also while the service works: others see the old data, then the restored. Backups of older versions
 * are brought up to date on the way. A run that the backup does not know loses its lease and stops. `prepare` looks at the backup's data,
 * and may change them, before they take the place of ours; where it fails nothing has changed.
 */
export const restoreFrom = <E = never>(
  backupFile: string,
  prepare: Effect.Effect<void, E, Database> = Effect.void,
): Effect.Effect<void, E | Conflict | StorageFault, Database> =>
  Effect.gen(function* () {
    const doing = `restore ${backupFile}`
    const database = yield* Database
    const file = yield* fileOf(database, doing)
    yield* checkBackup(backupFile)
    const copy = `${file}.restore-${process.pid}`
    yield* prepareCopy(doing, backupFile, copy, prepare).pipe(
      // our own connection is held meanwhile: a transaction of ours that is open could not end while this one waits for it
      Effect.andThen(database.read(doing, (db) => db.connection().execute(async () => replaceRows(file, copy)))),
      Effect.ensuring(Effect.promise(() => removeDatabase(copy))),
    )
  })
