import type { RangeId } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { describe, expect, it } from "vitest"
import { Database, type Transaction } from "../src/engine/database.ts"
import { postgresLayer, postgresOrm } from "../src/engine/postgres.ts"
import { backupTo, storageHealth, storageLayer } from "../src/index.ts"
import { aliceWithLab, createDatabase, newRange } from "./support.ts"

const server = process.env["RANGEWRIGHT_TEST_POSTGRES"]
const lab = "LAB" as RangeId

/** Ends all connections of the service to its database, as a restarted server does. */
const dropConnections = async (url: string): Promise<void> => {
  const orm = await postgresOrm(url)
  const others =
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
  await orm.em.getConnection().execute(others)
  await orm.close()
}

describe.skipIf(server === undefined)("postgresql (needs RANGEWRIGHT_TEST_POSTGRES)", () => {
  it("goes on by itself after its connections were lost, as often as that happens", async () => {
    const { url, drop } = await createDatabase(server ?? "")
    const program = Effect.gen(function* () {
      const ranges = yield* Ranges
      yield* aliceWithLab
      // more often than the pool has connections: a connection that is not given back would stop everything
      for (let i = 0; i < 12; i++) {
        yield* Effect.promise(() => dropConnections(url))
        yield* Effect.ignore(storageHealth)
        yield* Effect.retry(storageHealth, { times: 10 })
        expect((yield* ranges.change(lab, { purpose: `round ${i}` })).purpose).toBe(`round ${i}`)
      }
    })
    await Effect.runPromise(Effect.provide(program, storageLayer({ databaseUrl: url })))
    await drop()
  })

  it("lets changes of many kinds run at once", async () => {
    const { url, drop } = await createDatabase(server ?? "")
    const program = Effect.gen(function* () {
      const ranges = yield* Ranges
      yield* aliceWithLab
      const made = yield* Effect.forEach(["A", "B", "C", "D"], (id) => ranges.create(newRange(id)))
      const changes = made.flatMap(({ id }, i) => [
        ranges.change(id, { name: `name ${i}` }),
        ranges.setConfig(id, `# ${i}`),
        ranges.touch(new Map(made.map((range) => [range.id, new Date(i)]))),
        ranges.touch(new Map(made.toReversed().map((range) => [range.id, new Date(i + 1)]))),
      ])
      yield* Effect.all([...changes, ...changes, ...changes], { concurrency: "unbounded" })
      expect((yield* ranges.list()).map((range) => range.name)).toEqual(["LAB", "name 0", "name 1", "name 2", "name 3"])
    })
    await Effect.runPromise(Effect.provide(program, storageLayer({ databaseUrl: url })))
    await drop()
  })

  it("takes the locks of a process that stands still in the middle of a write, so that the others go on", async () => {
    const { url, drop } = await createDatabase(server ?? "")
    const program = Effect.gen(function* () {
      const stalled = Context.get(yield* Layer.build(postgresLayer(url, undefined, 100)), Database)
      const other = Context.get(yield* Layer.build(postgresLayer(url)), Database)
      const inside = yield* Deferred.make<void>()
      const wakes = yield* Deferred.make<void>()
      const change = (tx: Transaction, value: number) =>
        tx((db) => db.insertInto("resting_user_numbers").values({ number: value, since: 0 }).execute())
      const frozen = yield* Effect.forkChild(
        stalled.writeAlone("write half", (tx) =>
          change(tx, 1).pipe(
            Effect.andThen(Deferred.succeed(inside, undefined)),
            Effect.andThen(Deferred.await(wakes)),
            Effect.andThen(Effect.suspend(() => change(tx, 2))),
          ),
        ),
      )
      yield* Deferred.await(inside)
      yield* other.writeAlone("write whole", (tx) => change(tx, 3))
      yield* Deferred.succeed(wakes, undefined)
      expect(yield* Effect.flip(Fiber.join(frozen))).toMatchObject({ _tag: "StorageFault" })
      expect(yield* other.read("read", (db) => db.selectFrom("resting_user_numbers").select("number").execute())).toEqual([
        { number: 3 },
      ])
    })
    await Effect.runPromise(Effect.scoped(program))
    await drop()
  })

  it("sends whoever wants a backup to the server's own tools", async () => {
    const { url, drop } = await createDatabase(server ?? "")
    const refused = await Effect.runPromise(Effect.provide(Effect.flip(backupTo("copy")), storageLayer({ databaseUrl: url })))
    expect(refused).toMatchObject({ _tag: "Conflict", hint: expect.stringContaining("pg_dump") })
    await drop()
  })
})
