import { DatabaseSync } from "node:sqlite"
import { setTimeout } from "node:timers/promises"
import type { Migration } from "@mikro-orm/migrations"
import { sql } from "kysely"
import type { SqlMikroORM } from "@mikro-orm/sql"
import { StorageFault } from "@rangewright/ports"
import { isLocked } from "./storage-fault.ts"

/** Every migration of one engine, oldest first. Released ones are never changed. */
export type MigrationList = readonly { readonly name: string; readonly class: new (...args: never[]) => Migration }[]

export const migrationTable = "schema_migrations"

export const migrationOptions = (list: MigrationList) => ({
  tableName: migrationTable,
  migrationsList: list.map(({ name, class: made }) => ({ name, class: made as never })),
  // a difference between entities and tables never drops tables, and no snapshot file is written
  dropTables: false,
  snapshot: false,
  silent: true,
})

/** Names of migrations that this version does not know: the data was written by a newer one. */
export const unknownMigrations = (applied: readonly string[], list: MigrationList): readonly string[] => {
  const known = new Set(list.map(({ name }) => name))
  return applied.filter((name) => !known.has(name))
}

export const refuseNewer = (applied: readonly string[], list: MigrationList, what: string): void => {
  const unknown = unknownMigrations(applied, list)
  if (unknown.length > 0)
    throw new StorageFault({
      doing: `open ${what}`,
      because: `it was written by a newer version, which applied ${unknown.join(", ")}: start that version, or restore an older backup`,
    })
}

/** What to do with a database of an older version: migrate it, refuse it, or refuse it unless it is empty. */
export type OlderData = "upgrade" | "refuse" | "fill"

const notUpToDate = "it is not up to date: start the service, which updates it, or use the version that wrote it"
const notEmpty = "it contains data of an older version: use an empty database, or empty this one with the server's own tools"

/** Whether there was anything to migrate. */
const migrate = async (orm: SqlMikroORM, list: MigrationList, what: string, older: OlderData): Promise<boolean> => {
  const applied = await orm.migrator.getExecuted()
  refuseNewer(
    applied.map(({ name }) => name),
    list,
    what,
  )
  if (applied.length === list.length) return false
  if (older === "refuse" || (older === "fill" && applied.length > 0))
    throw new StorageFault({ doing: `open ${what}`, because: older === "refuse" ? notUpToDate : notEmpty, older: true })
  await orm.migrator.up()
  return true
}

const turnPatienceMillis = 60_000
const turnPauseMillis = 25

/** A lock that ends with its process, however that ends: an exclusive transaction on a file of its own. */
const lockForMigration = async (file: string): Promise<DatabaseSync> => {
  const turn = new DatabaseSync(`${file}-migration-lock`, { timeout: 0 })
  const patience = performance.now() + turnPatienceMillis
  for (;;) {
    try {
      turn.exec("begin exclusive")
      return turn
    } catch (cause) {
      if (performance.now() > patience || !isLocked(cause)) {
        turn.close()
        throw cause
      }
      await setTimeout(turnPauseMillis)
    }
  }
}

/**
 * Two processes that start at once take turns. Rebuilding a table (create, copy, drop, rename) would delete the rows that refer to it,
 * unless foreign keys are off before the migration's transaction begins; so they are switched off, and checked after a migration. The check
 * reads the whole file, so there is none without.
 */
export const migrateSqlite = async (
  orm: SqlMikroORM,
  file: string,
  list: MigrationList,
  older: OlderData = "upgrade",
): Promise<void> => {
  const turn = await lockForMigration(file)
  try {
    const connection = orm.em.getConnection()
    await connection.execute("pragma foreign_keys = off")
    const isNew = await migrate(orm, list, `the database ${file}`, older)
    const broken = isNew ? await connection.execute<readonly unknown[]>("pragma foreign_key_check") : []
    if (broken.length > 0)
      throw new StorageFault({
        doing: `migrate ${file}`,
        because: `rows refer to rows that no longer exist: ${JSON.stringify(broken.slice(0, 3))}`,
      })
    await connection.execute("pragma foreign_keys = on")
  } finally {
    turn.close()
  }
}

/** A number of our own among PostgreSQL's advisory locks. */
const migrationLock = 7_214_633_902_117

/** Of several processes that start at once, one migrates; the others wait for it, each with one connection of its pool. */
export const migratePostgres = async (orm: SqlMikroORM, list: MigrationList, older: OlderData = "upgrade"): Promise<void> => {
  await orm.em
    .fork()
    .getKysely()
    .connection()
    .execute(async (turn) => {
      await sql`select pg_advisory_lock(${migrationLock})`.execute(turn)
      try {
        await migrate(orm, list, "the database", older)
      } finally {
        await sql`select pg_advisory_unlock(${migrationLock})`.execute(turn)
      }
    })
}
