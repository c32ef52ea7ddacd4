import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { RangeId, UserId } from "@rangewright/domain"
import { Machines, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { expect, it } from "vitest"
import { cachedReads } from "../src/engine/cached-reads.ts"
import { Database } from "../src/index.ts"
import { aliceWithLab, newUser, onFile, temporaryFolder } from "./support.ts"

const alice = "alice" as UserId
const lab = "LAB" as RangeId

it("returns what another process just committed, whatever it returned before", async () => {
  const file = join(await temporaryFolder(), "data.db")
  const other = (sql: string) =>
    Effect.sync(() => {
      const connection = new DatabaseSync(file)
      connection.exec(sql)
      connection.close()
    })
  const seen = await onFile(
    file,
    Effect.gen(function* () {
      yield* aliceWithLab
      const users = yield* Users
      const ranges = yield* Ranges
      const look = Effect.gen(function* () {
        // another turn of the event loop, as another request is
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
        const own = yield* ranges.list({ for: alice, rangeId: lab })
        return {
          name: (yield* users.find(alice))?.name,
          hash: (yield* users.forAuthentication(alice))?.secrets.apiKeyHash,
          own: own.map(({ purpose }) => purpose),
          revision: yield* ranges.revision,
          away: (yield* (yield* Machines).freshness).awayReason,
        }
      })
      const before = [yield* look, yield* look]
      yield* other(`update users set name = 'Alice B', api_key_hash = 'other' where id = 'alice'`)
      yield* other(`update ranges set purpose = 'course' where id = 'LAB'; update revision set value = value + 1`)
      yield* other(`update observation set away_since = 1, away_reason = 'no route'`)
      const after = yield* look
      yield* other(`delete from range_grants`)
      return { before, after, taken: yield* look }
    }),
  )
  const [first, second] = seen.before
  expect(second).toEqual(first)
  expect(first).toMatchObject({ name: "alice", hash: undefined, own: [""], away: undefined })
  expect(seen.after).toEqual({
    name: "Alice B",
    hash: "other",
    own: ["course"],
    // the table's triggers count the change too
    revision: expect.toSatisfy((now: number) => now > (first?.revision ?? Infinity)) as number,
    away: "no route",
  })
  expect(seen.taken.own).toEqual([])
})

it("returns what this process wrote as soon as the write has ended", async () => {
  const file = join(await temporaryFolder(), "data.db")
  const names = await onFile(
    file,
    Effect.gen(function* () {
      yield* aliceWithLab
      const users = yield* Users
      const told: (string | undefined)[] = []
      for (let n = 0; n < 50; n++) {
        yield* users.find(alice)
        yield* users.change(alice, { name: `name ${n}` })
        told.push((yield* users.find(alice))?.name)
      }
      return told
    }),
  )
  expect(names).toEqual(Array.from({ length: 50 }, (_, n) => `name ${n}`))
})

it("finds a user that was looked up before it existed", async () => {
  const file = join(await temporaryFolder(), "data.db")
  const found = await onFile(
    file,
    Effect.gen(function* () {
      const users = yield* Users
      const before = yield* users.find(alice)
      yield* users.create(newUser("alice"))
      return [before, (yield* users.find(alice))?.id]
    }),
  )
  expect(found).toEqual([undefined, "alice"])
})

it("gives the same value again until something is committed, and keeps no more than a thousand", async () => {
  const file = join(await temporaryFolder(), "data.db")
  const made = await onFile(
    file,
    Effect.gen(function* () {
      const database = yield* Database
      let count = 0
      const echo = database.cachedRead("echo", "select ? as n", ([row]) => {
        count++
        return { n: row?.["n"] }
      })
      const first = yield* echo(1)
      const again = yield* echo(1)
      for (let n = 2; n <= 1_001; n++) yield* echo(n)
      const counted = count
      yield* echo(1)
      return { same: first === again, counted, forgotten: count - counted }
    }),
  )
  expect(made).toEqual({ same: true, counted: 1_001, forgotten: 1 })
})

it("fails when the database cannot be read, and works again when it can", async () => {
  const file = join(await temporaryFolder(), "data.db")
  const [failed, works] = await onFile(
    file,
    Effect.gen(function* () {
      const database = yield* Database
      const read = database.cachedRead("read what may not be there", "select n from later", (rows) => rows.length)
      const before = yield* Effect.flip(read())
      yield* database.write("make a table", (tx) =>
        tx((db) => db.schema.createTable("later").addColumn("n", "integer").execute()),
      )
      return [before, yield* read()]
    }),
  )
  expect(failed).toMatchObject({ _tag: "StorageFault", message: expect.stringContaining("read what may not be there") as string })
  expect(works).toBe(0)
})

it("caches nothing that was read before a commit that others have seen meanwhile", async () => {
  const file = join(await temporaryFolder(), "data.db")
  const writer = new DatabaseSync(file)
  writer.exec("pragma journal_mode = wal; create table t (n); insert into t values (1)")
  const reader = new DatabaseSync(file, { readOnly: true })
  const { promise: resumed, resolve: resume } = Promise.withResolvers<void>()
  let isFirst = true
  const kept = cachedReads(reader, (_doing, sql, meaning) => () => {
    const read = Effect.sync(() => meaning(reader.prepare(sql).all()))
    if (!isFirst) return read
    isFirst = false
    return Effect.tap(
      read,
      Effect.promise(() => resumed),
    )
  })
  const values = kept("read", "select n from t", (found) => found[0]?.["n"])
  const others = kept("read others", "select count(*) as n from t", (found) => found[0]?.["n"])

  const slow = Effect.runPromise(values())
  await new Promise((resolve) => setImmediate(resolve))
  writer.exec("update t set n = 2")
  expect(await Effect.runPromise(others())).toBe(1)
  resume()
  expect(await slow).toBe(1)
  expect(await Effect.runPromise(values())).toBe(2)
  writer.close()
  reader.close()
})
