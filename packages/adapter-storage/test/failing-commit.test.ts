import { StorageFault } from "@rangewright/ports"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { describe, expect, it } from "vitest"
import { Database } from "../src/engine/database.ts"
import type { Transaction } from "../src/engine/transaction.ts"
import { storageLayer } from "../src/index.ts"
import { aliceWithLab, createDatabase, onFile, rangeNames, temporaryFolder } from "./support.ts"

const server = process.env["RANGEWRIGHT_TEST_POSTGRES"]

const run = (tx: Transaction, statement: string) => tx((db) => sql.raw(statement).execute(db))

/** More often than a pool has connections: one that is not given back, or not as it was, would be met again. */
const rounds = 12

/** Renames the range in a transaction whose commit fails, and then as usual. */
const renameInVain = (failing: (tx: Transaction) => Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    const database = yield* Database
    yield* aliceWithLab
    for (let round = 0; round < rounds; round++) {
      const rename = (tx: Transaction) => run(tx, `update ranges set name = 'round ${round}'`)
      const failed = yield* Effect.flip(
        database.write("rename a range", (tx) => Effect.andThen(rename(tx), Effect.orDie(failing(tx)))),
      )
      expect(failed).toBeInstanceOf(StorageFault)
      expect(failed).toBeInstanceOf(StorageFault)
      // a pool learns a moment later that a connection was lost
      expect(yield* Effect.retry(rangeNames, { times: rounds })).toEqual([round === 0 ? "LAB" : `round ${round - 1}`])
      yield* database.write("rename a range", rename)
      expect(yield* rangeNames).toEqual([`round ${round}`])
    }
  })

describe("a commit that fails leaves nothing of its transaction", () => {
  it("on SQLite, where the transaction would stay open", async () => {
    const failing = (tx: Transaction) =>
      Effect.andThen(
        run(tx, "pragma defer_foreign_keys = on"),
        run(tx, "insert into range_grants (range_id, user_id) values ('nowhere', 'nobody')"),
      )
    await onFile(join(await temporaryFolder(), "a.db"), renameInVain(failing))
  })

  it.skipIf(server === undefined).each([
    ["by a deferred constraint", "raise exception 'not now'"],
    ["with its connection", "perform pg_terminate_backend(pg_backend_pid()); return null"],
  ])("on PostgreSQL, %s", async (_, action) => {
    const { url, drop } = await createDatabase(server ?? "")
    const program = Effect.gen(function* () {
      const database = yield* Database
      yield* database.write("prepare", (tx) =>
        Effect.forEach(
          [
            "create table in_vain (n int)",
            `create function fail() returns trigger language plpgsql as $$ begin ${action}; end $$`,
            "create constraint trigger late after insert on in_vain deferrable initially deferred for each row execute function fail()",
          ],
          (statement) => run(tx, statement),
        ),
      )
      yield* renameInVain((tx) => run(tx, "insert into in_vain values (1)"))
    })
    await Effect.runPromise(Effect.provide(program, storageLayer({ databaseUrl: url })))
    await drop()
  })
})
