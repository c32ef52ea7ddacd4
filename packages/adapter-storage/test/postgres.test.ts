import type { RangeId, RunId, UserId, Vmid } from "@rangewright/domain"
import { AuditTrail, Machines, Ranges, RunJournal, SharedSlots, Users } from "@rangewright/ports"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { sql } from "kysely"
import { describe, expect, it } from "vitest"
import { Database } from "../src/engine/database.ts"
import type { Transaction } from "../src/engine/transaction.ts"
import { postgresLayer, postgresOrm } from "../src/engine/postgres.ts"
import { backupTo, fillFrom, holdName, storageHealth, storageLayer } from "../src/index.ts"
import { tablesInOrder } from "../src/maintenance/rows.ts"
import { aliceWithLab, createDatabase, newRange, newUser, onFile, temporaryFolder } from "./support.ts"

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
  it("resumes automatically after its connections were lost, as often as that happens", async () => {
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

  it("lets one living process have a name, and that one again after its connections were lost", async () => {
    const { url, drop } = await createDatabase(server ?? "")
    const layer = storageLayer({ databaseUrl: url })
    const asks = (name: string) => Effect.provide(Effect.scoped(holdName(name)), layer, { local: true })
    const program = Effect.gen(function* () {
      expect(yield* holdName("one")).toBe(true)
      expect([yield* asks("one"), yield* asks("two"), yield* asks("two")]).toEqual([false, true, true])
      yield* Effect.promise(() => dropConnections(url))
      yield* TestClock.adjust("1 minute")
      const isHeld = Effect.map(asks("one"), (free) => !free)
      yield* Effect.repeat(
        Effect.tap(isHeld, () => TestClock.adjust("1 minute")),
        { until: (held) => held },
      )
    })
    await Effect.runPromise(Effect.provide(Effect.scoped(program), Layer.merge(layer, TestClock.layer())))
    expect(await Effect.runPromise(asks("one"))).toBe(true)
    await drop()
  })

  it("takes no run from a living worker when the server's clock is set, and still the run of a dead one", async () => {
    const { url, drop } = await createDatabase(server ?? "")
    const orm = await postgresOrm(url)
    const run = (sqlText: string) => orm.em.getConnection().execute(sqlText)
    await run("create table ahead (seconds integer not null)")
    await run("insert into ahead values (0)")
    await run(
      "create function public.clock_timestamp() returns timestamptz language sql volatile as 'select pg_catalog.clock_timestamp() + make_interval(secs => seconds) from public.ahead'",
    )
    // found before the server's own
    await run(`alter database ${new URL(url).pathname.slice(1)} set search_path = public, pg_catalog`)
    const set = (seconds: number) => Effect.promise(() => run(`update ahead set seconds = ${seconds}`))
    const layer = storageLayer({ databaseUrl: url })
    const day = 24 * 3600
    const program = Effect.gen(function* () {
      yield* aliceWithLab
      const one = yield* RunJournal
      const two = Context.get(yield* Layer.build(Layer.fresh(layer)), RunJournal)
      const id = "run000000000001" as RunId
      const subject = { type: "range", id: lab } as const
      yield* one.open({ id, kind: "deploy", subject, by: "alice" as UserId, options: null, startedAt: new Date(0) }, undefined)
      expect([yield* one.claim(id, "one", 300), yield* two.claim(id, "two", 300)]).toEqual([1, undefined])
      for (const ahead of [day, 0, -day]) {
        yield* set(ahead)
        expect(yield* two.claim(id, "two", 300)).toBeUndefined()
        expect(yield* one.renew(id, 1, 300)).toBe(true)
        expect(yield* two.claim(id, "two", 300)).toBeUndefined()
      }
      // it does not renew its lease any more
      yield* set(0)
      expect(yield* two.claim(id, "two", 1)).toBeUndefined()
      const claimed = yield* Effect.repeat(two.claim(id, "two", 1), { until: (generation) => generation !== undefined })
      expect(claimed).toBe(2)
    })
    await Effect.runPromise(Effect.provide(Effect.scoped(program), layer))
    await orm.close()
    await drop()
  })

  it.each(["{", '{"now":0,"owners":[],"runs":[{"held":"many"}]}', '{"now":0,"owners":[],"runs":null}'])(
    "takes the damaged ledger %s of a scarce thing for an empty one, and writes it anew",
    async (ledger) => {
      const { url, drop } = await createDatabase(server ?? "")
      const program = Effect.gen(function* () {
        yield* aliceWithLab
        const [journal, shared, database] = [yield* RunJournal, yield* SharedSlots, yield* Database]
        const [id, by] = ["run000000000001" as RunId, "alice" as UserId]
        const subject = { type: "source", id: "source" } as const
        yield* journal.open({ id, kind: "fetch", subject, by, options: null, startedAt: new Date(0) }, undefined)
        yield* journal.claim(id, "service", 300)
        yield* database.write("damage a ledger", (tx) =>
          tx((db) => db.insertInto("slot_ledgers").values({ resource: "clone@fast", ledger }).execute()),
        )
        const demand = { run: id, generation: 1, by, held: 0, had: 0, waiting: [10, 10] }
        const ask = Effect.map(
          shared?.share([{ resource: "clone@fast", slots: 1, demands: [demand] }], 300) ?? Effect.succeed([]),
          ([answer]) => answer?.granted,
        )
        expect(yield* ask).toEqual([1])
        expect(yield* database.read("read a ledger", (db) => db.selectFrom("slot_ledgers").select("ledger").execute())).toEqual([
          { ledger: expect.stringContaining(id) as string },
        ])
      })
      await Effect.runPromise(Effect.provide(program, storageLayer({ databaseUrl: url })))
      await drop()
    },
  )

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

  it("releases the locks of a process that stalls during a write, so that others can continue", async () => {
    const { url, drop } = await createDatabase(server ?? "")
    const program = Effect.gen(function* () {
      const stalled = Context.get(yield* Layer.build(postgresLayer(url, undefined, 1000)), Database)
      const other = Context.get(yield* Layer.build(postgresLayer(url)), Database)
      const inside = yield* Deferred.make<void>()
      const wakes = yield* Deferred.make<void>()
      const change = (tx: Transaction, value: number) =>
        tx((db) => db.insertInto("resting_user_numbers").values({ number: value, since: 0 }).execute())
      const frozen = yield* Effect.forkChild(
        stalled.serializedWrite("write half", (tx) =>
          change(tx, 1).pipe(
            Effect.andThen(Deferred.succeed(inside, undefined)),
            Effect.andThen(Deferred.await(wakes)),
            Effect.andThen(Effect.suspend(() => change(tx, 2))),
          ),
        ),
      )
      yield* Deferred.await(inside)
      yield* other.serializedWrite("write whole", (tx) => change(tx, 3))
      yield* Deferred.succeed(wakes, undefined)
      expect(yield* Effect.flip(Fiber.join(frozen))).toMatchObject({ _tag: "StorageFault" })
      expect(yield* other.read("read", (db) => db.selectFrom("resting_user_numbers").select("number").execute())).toEqual([
        { number: 3 },
      ])
    })
    await Effect.runPromise(Effect.scoped(program))
    await drop()
  })

  it("checks again when the subject of a write was removed since it was read", async () => {
    const { url, drop } = await createDatabase(server ?? "")
    const program = Effect.gen(function* () {
      yield* aliceWithLab
      const machines = yield* Machines
      const database = yield* Database
      const gone = yield* Deferred.make<void>()
      const waiting = database.read("look who waits", async (db) => {
        const { rows } = await sql<{ count: string }>`select count(*) from pg_locks where not granted`.execute(db)
        return Number(rows[0]?.count)
      })
      const removing = yield* Effect.forkChild(
        database.write("remove the range", (tx) =>
          tx((db) => db.deleteFrom("ranges").where("id", "=", lab).execute()).pipe(
            Effect.andThen(Deferred.succeed(gone, undefined)),
            Effect.andThen(Effect.repeat(waiting, { until: (count) => count > 0 })),
          ),
        ),
      )
      yield* Deferred.await(gone)
      // it finds the range, which is not gone for others yet, and then waits at the foreign key
      yield* machines.recordStage(lab, 20_000 as Vmid, "stage:dc", "print")
      yield* Fiber.join(removing)
      expect(yield* machines.stages(lab)).toEqual(new Map())
    })
    await Effect.runPromise(Effect.provide(program, storageLayer({ databaseUrl: url })))
    await drop()
  })

  it("is not filled from a backup when a user was created meanwhile, or when an older version wrote it", async () => {
    const { url, drop } = await createDatabase(server ?? "")
    const copy = join(await temporaryFolder(), "copy.db")
    await onFile(copy, Effect.void)
    const program = Effect.gen(function* () {
      const database = yield* Database
      const users = yield* Users
      const holds = yield* Deferred.make<void>()
      const waiting = database.read("look who waits", async (db) => {
        const ours = sql`database = (select oid from pg_database where datname = current_database())`
        const { rows } = await sql<{ count: string }>`select count(*) from pg_locks where not granted and ${ours}`.execute(db)
        return Number(rows[0]?.count)
      })
      // serialized writes take turns: the user's comes first, then that of the restore
      const held = yield* Effect.forkChild(
        database.serializedWrite("hold the turn", () =>
          Deferred.succeed(holds, undefined).pipe(Effect.andThen(Effect.repeat(waiting, { until: (count) => count > 1 }))),
        ),
      )
      yield* Deferred.await(holds)
      const made = yield* Effect.forkChild(users.create(newUser("alice")))
      yield* Effect.repeat(waiting, { until: (count) => count > 0 })
      const filled = yield* Effect.flip(fillFrom(copy, Effect.void))
      yield* Fiber.join(held)
      yield* Fiber.join(made)
      expect([filled.message, (yield* users.list).map(({ id }) => id)]).toEqual([
        expect.stringContaining("it contains data"),
        ["alice"],
      ])
      yield* database.read("make it older", (db) =>
        sql`delete from schema_migrations where name = '0049-run-ordinals'`.execute(db),
      )
    })
    await Effect.runPromise(Effect.provide(program, storageLayer({ databaseUrl: url }), { local: true }))
    const older = Effect.flip(Layer.build(storageLayer({ databaseUrl: url }, "fill")))
    expect((await Effect.runPromise(Effect.scoped(older))).message).toContain("it contains data of an older version")
    await drop()
  })

  it(
    "backs up into a file of SQLite at one moment, and fills an empty database from it with every row",
    { timeout: 60_000 },
    async () => {
      const folder = await temporaryFolder()
      const copy = join(folder, "copy.db")
      const from = await createDatabase(server ?? "")
      const into = await createDatabase(server ?? "")
      const on = <A, E>(url: string, program: Effect.Effect<A, E, Layer.Success<ReturnType<typeof storageLayer>>>) =>
        Effect.runPromise(Effect.provide(program, storageLayer({ databaseUrl: url }), { local: true }))
      const audited = Effect.gen(function* () {
        const detail = { requestId: "r", callerId: undefined, actingAs: undefined, operation: "o", rangeId: undefined }
        yield* (yield* AuditTrail).record({ ...detail, at: new Date(1), detail: "d\0\ud800", outcome: "Success", remote: "::1" })
      })
      await on(
        from.url,
        Effect.gen(function* () {
          const [ranges, database] = [yield* Ranges, yield* Database]
          yield* aliceWithLab
          yield* ranges.setConfig(lab, "# bytes \0 and more\n")
          // more than one page, and rows that refer to rows
          yield* audited
          const entry = yield* database.read("read", (db) => db.selectFrom("audit_entries").selectAll().executeTakeFirstOrThrow())
          const more = Array.from({ length: 2_500 }, (_, n) => ({ ...entry, id: entry.id + n + 1 }))
          yield* database.read("write", (db) => db.insertInto("audit_entries").values(more).execute())
          const writes = Effect.forEach(Array.from({ length: 20 }), (_, i) => ranges.create(newRange(`R${i + 10}`)))
          yield* Effect.all([backupTo(copy), writes], { concurrency: "unbounded" })
        }),
      )
      await onFile(copy, Effect.void)
      const rowsOf = (url: string) =>
        on(
          url,
          Database.use((database) =>
            Effect.forEach(tablesInOrder(copy), ({ table, key }) =>
              database.read("read", (db) =>
                key.reduce((query, column) => query.orderBy(sql.ref(column)), db.selectFrom(table).selectAll()).execute(),
              ),
            ),
          ),
        )
      let placed = 0
      const place = Effect.sync(() => void placed++)
      await on(into.url, fillFrom(copy, place))
      const rows = await rowsOf(into.url)
      expect([placed, rows.flat().length > 2_500]).toEqual([1, true])
      // once more, from there: nothing was changed on the way
      const again = join(folder, "again.db")
      await on(into.url, backupTo(again))
      const dump = (file: string) => {
        const database = new DatabaseSync(file, { readOnly: true })
        return tablesInOrder(file).map(({ table, key }) => [
          table,
          table === "revision" ? [] : database.prepare(`select * from ${table} order by ${key.join(", ")}`).all(),
        ])
      }
      expect(dump(again)).toEqual(dump(copy))
      // new rows get numbers of their own
      await on(into.url, audited)
      const refused = await on(into.url, Effect.flip(fillFrom(copy, place)))
      expect([refused.message, placed]).toEqual([expect.stringContaining("it contains data"), 1])
      const nothing = await createDatabase(server ?? "")
      await on(nothing.url, Effect.flip(fillFrom(copy, Effect.fail("no room"))))
      expect((await rowsOf(nothing.url)).flat().length).toBeLessThan(3)
      for (const { drop } of [from, into, nothing]) await drop()
    },
  )
})
