import { join } from "node:path"
import { Migration } from "@mikro-orm/migrations"
import type { BlueprintId, GroupName, RangeId, RecordId, RunId, UserId } from "@rangewright/domain"
import { Blueprints, Groups, Ranges, RunJournal, StorageFault, type Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect, it } from "vitest"
import { schemaDifference } from "../scripts/schema-difference.ts"
import type { MigrationList } from "../src/engine/migrate.ts"
import { postgresOrm } from "../src/engine/postgres.ts"
import { sqliteLayer, sqliteOrm } from "../src/engine/sqlite.ts"
import { sqliteMigrations } from "../src/migrations/sqlite/index.ts"
import { rangesLayer } from "../src/repositories/ranges.ts"
import { runJournalLayer } from "../src/repositories/run-journal.ts"
import { usersLayer } from "../src/repositories/users.ts"
import { aliceWithLab, createDatabase, onFile, temporaryFolder } from "./support.ts"

/** What a later version may do to a table on SQLite, which cannot change columns: build it anew. */
class RebuildRanges extends Migration {
  override up(): void {
    this.addSql(
      `create table ranges_new (id text not null primary key, record_id text not null, number integer not null, name text not null,
        description text not null, purpose text not null, state text not null, testing_enabled integer not null,
        allowed_domains text not null, allowed_ips text not null, last_deployment_at bigint null, last_active_at bigint null,
        auto_shutdown text null, created_by text null references users (id) on delete set null, created_at bigint not null,
        updated_at bigint not null, version integer not null)`,
    )
    this.addSql("insert into ranges_new select * from ranges")
    this.addSql("drop table ranges")
    this.addSql("alter table ranges_new rename to ranges")
  }
}
class Fails extends Migration {
  override up(): void {
    this.addSql("create table half_done (x integer)")
    this.addSql("this is no statement")
  }
}
const later: MigrationList = [...sqliteMigrations, { name: "9001-rebuild", class: RebuildRanges }]

/** What the first release made. */
const first: MigrationList = sqliteMigrations.slice(0, 1)

const onVersion = <A, E>(file: string, migrations: MigrationList, program: Effect.Effect<A, E, Ranges | RunJournal | Users>) =>
  Effect.runPromise(
    Effect.provide(
      program,
      Layer.mergeAll(rangesLayer, runJournalLayer, usersLayer).pipe(Layer.provideMerge(sqliteLayer(file, migrations))),
      { local: true },
    ),
  )

const run = {
  id: "run000000000000" as RunId,
  kind: "deploy",
  rangeId: "LAB" as RangeId,
  by: "alice" as UserId,
  options: null,
  startedAt: new Date(0),
} as const

const oldFolder = async (): Promise<string> => {
  const file = join(await temporaryFolder(), "data.db")
  await onVersion(
    file,
    first,
    Effect.gen(function* () {
      yield* aliceWithLab
      const journal = yield* RunJournal
      yield* journal.open(run, undefined)
      yield* journal.append(run.id, 0, [{ type: "Waiting", reason: "x" }], new Date(0))
    }),
  )
  return file
}

it("keeps all rows of an old database, also those that refer to a table that is built anew", async () => {
  const file = await oldFolder()
  await onVersion(
    file,
    later,
    Effect.gen(function* () {
      expect((yield* (yield* Ranges).list()).map((range) => range.id)).toEqual(["LAB"])
      expect((yield* (yield* Ranges).config(run.rangeId))?.text).toBe("ludus: []\n")
      expect(yield* (yield* Ranges).grants(run.rangeId)).toHaveLength(1)
      expect(yield* (yield* RunJournal).read(run.id, 0)).toHaveLength(1)
      yield* (yield* Ranges).remove(run.rangeId)
      expect(yield* (yield* RunJournal).find(run.id)).toBeUndefined()
    }),
  )
})

it("gives a database of the first release what later ones brought, with all its rows", async () => {
  const file = await oldFolder()
  await onFile(
    file,
    Effect.gen(function* () {
      const groups = yield* Groups
      const ranges = yield* Ranges
      expect(yield* groups.list()).toEqual([])
      expect((yield* ranges.list({ for: run.by })).map((range) => range.id)).toEqual(["LAB"])
      expect((yield* ranges.config(run.rangeId))?.text).toBe("ludus: []\n")
      expect(yield* (yield* RunJournal).read(run.id, 0)).toHaveLength(1)
      const name = "red" as GroupName
      yield* groups.create({ name, recordId: "groupred0000000" as RecordId, description: "", createdAt: new Date(0) })
      const before = yield* ranges.revision
      yield* groups.setRoles(name, new Map([[run.by, "member"]] as const))
      yield* groups.addRange(name, run.rangeId)
      expect(yield* ranges.revision).toBe(before + 2)
      expect((yield* ranges.grants(run.rangeId)).map((grant) => grant.accessType)).toEqual(["Direct", "Group Member"])
      const blueprints = yield* Blueprints
      expect(yield* blueprints.list()).toEqual([])
      const id = "web" as BlueprintId
      const said = { name: "Web", description: "", version: "1.0.0", tags: [], minVersion: "" }
      const recordId = "blueprint000000" as RecordId
      yield* blueprints.create({
        ...said,
        id,
        recordId,
        owner: run.by,
        config: "ludus: []\n",
        thumbnail: undefined,
        createdAt: new Date(0),
      })
      yield* blueprints.shareWithGroup(id, name)
      expect((yield* blueprints.list({ for: run.by })).map((blueprint) => blueprint.sharedGroups)).toEqual([[name]])
    }),
  )
})

        requirements: undefined,
        bundle: undefined,
it("refuses a database of a newer version and leaves it as it is", async () => {
  const file = await oldFolder()
  await onVersion(file, later, Effect.void)
  const fault = await onFile(file, Effect.void).then(
    () => undefined,
    (cause: unknown) => cause,
  )
  expect(fault).toBeInstanceOf(StorageFault)
  expect(String(fault)).toContain("it was written by a newer version, which applied 9001-rebuild")
  await onVersion(file, later, Effect.void)
})

it("leaves the old version whole when a migration fails", async () => {
  const file = await oldFolder()
  const broken: MigrationList = [...later, { name: "9002-fails", class: Fails }]
  await expect(onVersion(file, broken, Effect.void)).rejects.toBeInstanceOf(StorageFault)
  await onFile(
    file,
    Effect.gen(function* () {
      expect(yield* (yield* RunJournal).read(run.id, 0)).toHaveLength(1)
    }),
  )
})

it("has the tables that the entities describe, on SQLite", async () => {
  const file = join(await temporaryFolder(), "data.db")
  await onFile(file, Effect.void)
  const orm = await sqliteOrm(file)
  const difference = await schemaDifference(orm)
  await orm.close()
  expect(difference).toEqual([])
})

it.skipIf(process.env["RANGEWRIGHT_TEST_POSTGRES"] === undefined)(
  "has the tables that the entities describe, on PostgreSQL (needs RANGEWRIGHT_TEST_POSTGRES)",
  async () => {
    const database = await createDatabase(process.env["RANGEWRIGHT_TEST_POSTGRES"] ?? "")
    try {
      const orm = await postgresOrm(database.url)
      await orm.migrator.up()
      const difference = await schemaDifference(orm)
      await orm.close()
      expect(difference).toEqual([])
    } finally {
      await database.drop()
    }
  },
)
