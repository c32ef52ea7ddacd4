import { randomUUID } from "node:crypto"
import { Database, storageLayer } from "@rangewright/adapter-storage"
import * as Effect from "effect/Effect"

/** A throw-away PostgreSQL server for tests; undefined where none is given. `tools/postgres-for-tests.sh start` makes one. */
export const testServer = process.env["RANGEWRIGHT_TEST_POSTGRES"]
export const noServer = "RANGEWRIGHT_TEST_POSTGRES names no server: tools/postgres-for-tests.sh start makes one"

const onServer = (server: string, sql: string): Promise<unknown> =>
  Effect.runPromise(
    Effect.gen(function* () {
      return yield* (yield* Database).prepared("prepare a test", sql)()
    }).pipe(Effect.provide(storageLayer({ databaseUrl: server }))),
  )

/** A new database on the server, for one test. */
export const emptyDatabase = async (server: string): Promise<{ readonly url: string; readonly remove: () => Promise<void> }> => {
  const name = `test_${randomUUID().replaceAll("-", "")}`
  await onServer(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    remove: async () => {
      await onServer(server, `drop database ${name} with (force)`)
    },
  }
}
