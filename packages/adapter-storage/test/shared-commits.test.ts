import { readFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { type Ranges, StorageFault } from "@rangewright/ports"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { sql } from "kysely"
import { describe, expect, it } from "vitest"
import { Database } from "../src/engine/database.ts"
import type { Transaction } from "../src/engine/transaction.ts"
import { aliceWithLab, onFile, rangeNames, temporaryFolder } from "./support.ts"

const run = (tx: Transaction, statement: string) => tx((db) => sql.raw(statement).execute(db))
/** Adds a letter to the name of the range: what is done twice, or not at all, shows. */
const add = (letter: string) => (tx: Transaction) => run(tx, `update ranges set name = name || '${letter}'`)

const atOnce = <A, E>(bodies: readonly ((tx: Transaction) => Effect.Effect<A, E>)[]) =>
  Effect.gen(function* () {
    const database = yield* Database
    return yield* Effect.forEach(bodies, (body) => Effect.exit(database.write("rename a range", body)), {
      concurrency: "unbounded",
    })
  })
const letters = Effect.map(rangeNames, ([name = ""]) => name.slice("LAB".length).split("").sort().join(""))

/** Commits in SQLite's log of writes: frames that name the size of the file. */
const commitsIn = (file: string): number => {
  const log = readFileSync(`${file}-wal`)
  const frame = log.readUInt32BE(8) + 24
  const frames = Math.floor((log.length - 32) / frame)
  return Array.from({ length: frames }, (_, n) => log.readUInt32BE(32 + n * frame + 4)).filter((size) => size > 0).length
}

describe("concurrent transactions", () => {
  const withLab = async <A>(use: (file: string) => Effect.Effect<A, unknown, Database | Ranges>): Promise<void> => {
    const file = join(await temporaryFolder(), "data.db")
    await onFile(file, Effect.andThen(aliceWithLab, use(file)))
  }

  it("share a commit, and have ended only when everybody sees it", () =>
    withLab((file) =>
      Effect.gen(function* () {
        const before = commitsIn(file)
        const database = yield* Database
        const reader = new DatabaseSync(file, { readOnly: true })
        const seen = yield* Effect.forEach(
          [..."abcdefghijklmnopqrst"],
          (letter) =>
            Effect.map(database.write("rename a range", add(letter)), () =>
              String(reader.prepare("select name from ranges").get()?.["name"]).includes(letter),
            ),
          { concurrency: "unbounded" },
        )
        reader.close()
        expect(seen).toEqual(seen.map(() => true))
        expect(yield* letters).toBe("abcdefghijklmnopqrst")
        expect(commitsIn(file) - before).toBeLessThanOrEqual(2)
      }),
    ))

  it("fail and are interrupted each for itself", () =>
    withLab(() =>
      Effect.gen(function* () {
        const database = yield* Database
        const isIn = yield* Deferred.make<void>()
        const interrupted = yield* Effect.forkChild(
          database.write("rename a range", (tx) =>
            Effect.andThen(add("i")(tx), Effect.andThen(Deferred.succeed(isIn, undefined), Effect.never)),
          ),
        )
        const others = yield* Effect.forkChild(
          atOnce<unknown, unknown>([
            add("a"),
            (tx) => Effect.andThen(add("b")(tx), Effect.fail("of its own accord")),
            (tx) => Effect.andThen(add("c")(tx), run(tx, "insert into nowhere values (1)")),
            (tx) => Effect.andThen(add("d")(tx), Effect.die("a defect")),
            add("e"),
            () => {
              throw new Error("before it is an effect")
            },
          ]),
        )
        yield* Deferred.await(isIn)
        yield* Fiber.interrupt(interrupted)
        const exits = yield* Fiber.join(others)
        expect(exits.map(Exit.isSuccess)).toEqual([true, false, false, false, true, false])
        expect(exits[1]).toEqual(Exit.fail("of its own accord"))
        expect(exits[2]).toMatchObject(Exit.fail(expect.any(StorageFault)))
        expect(exits[3]).toEqual(Exit.die("a defect"))
        expect(yield* letters).toBe("ae")
      }),
    ))

  it.each([
    [
      "the commit itself fails",
      (tx: Transaction) =>
        Effect.andThen(
          run(tx, "pragma defer_foreign_keys = on"),
          run(tx, "insert into range_grants (range_id, user_id) values ('nowhere', 'nobody')"),
        ),
    ],
    [
      "SQLite rolls back all that is open, as it does on a full disk",
      (tx: Transaction) => Effect.andThen(run(tx, "rollback"), run(tx, "insert into nowhere values (1)")),
    ],
  ])("are done once each, and the guilty one not at all, where %s", (_, failing) =>
    withLab(() =>
      Effect.gen(function* () {
        const exits = yield* atOnce<unknown, unknown>([
          add("a"),
          add("b"),
          (tx) => Effect.andThen(add("c")(tx), failing(tx)),
          add("d"),
          (tx) => Effect.andThen(add("e")(tx), Effect.fail("of its own accord")),
        ])
        expect(exits.map(Exit.isSuccess)).toEqual([true, true, false, true, false])
        expect(exits[2]).toMatchObject(Exit.fail(expect.any(StorageFault)))
        expect(yield* letters).toBe("abd")
        expect((yield* atOnce([add("z")])).map(Exit.isSuccess)).toEqual([true])
        expect(yield* letters).toBe("abdz")
      }),
    ),
  )
})
