import { randomUUID } from "node:crypto"
import { Database, storageLayer } from "@rangewright/adapter-storage"
import * as ManagedRuntime from "effect/ManagedRuntime"

/** A disposable PostgreSQL server for tests; undefined if none is given. `tools/postgres-for-tests.sh start` starts one. */
export const testServer = process.env["RANGEWRIGHT_TEST_POSTGRES"]
export const noServer = "RANGEWRIGHT_TEST_POSTGRES names no server: tools/postgres-for-tests.sh start makes one"

/** A session for statements that tests need and the product does not. */
export const openSession = (url: string) => {
  const runtime = ManagedRuntime.make(storageLayer({ databaseUrl: url }))
  return {
    run: (sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> =>
      runtime.runPromise(Database.use((database) => database.prepared("prepare a test", sql, (rows) => rows)())),
    close: () => runtime.dispose(),
  }
}

/** A new database on the server. */
export const createDatabase = async (server: string): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> => {
  const name = `test_${randomUUID().replaceAll("-", "")}`
  const onServer = async (sql: string): Promise<void> => {
    const session = openSession(server)
    await session.run(sql)
    await session.close()
  }
  await onServer(`create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => onServer(`drop database ${name} with (force)`) }
}

/** Statements that empty a database, in an order that foreign keys allow. */
export const emptyTables: readonly string[] = [
  "delete from runs",
  "delete from slot_ledgers",
  "delete from step_durations",
  "delete from ranges",
  "delete from users",
  "delete from blueprints",
  "delete from user_groups",
  "delete from resting_user_numbers",
  "delete from machines",
  "delete from departed_machines",
  "delete from audit_entries",
  "delete from held_access",
  "delete from vpn_server",
  "update observation set observed_at = null, cluster = null, away_since = null, away_reason = null",
]
