import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { Migration } from "@mikro-orm/migrations"
import {
  type BlueprintId,
  type GroupName,
  RangeExists,
  type RangeId,
  type RecordId,
  type RunId,
  type UserId,
} from "@rangewright/domain"
import { Blueprints, Groups, Machines, Ranges, RunJournal, StorageFault, SubjectTaken, type Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { expect, it } from "vitest"
import { schemaDifference } from "../scripts/schema-difference.ts"
import type { MigrationList } from "../src/engine/migrate.ts"
import { postgresOrm } from "../src/engine/postgres.ts"
import { sqliteLayer, sqliteOrm } from "../src/engine/sqlite.ts"
import { postgresMigrations, sqliteMigrations } from "../src/migrations/index.ts"
import { rangesLayer } from "../src/repositories/ranges.ts"
import { runJournalLayer } from "../src/repositories/run-journal.ts"
import { usersLayer } from "../src/repositories/users.ts"
import { storageLayer } from "../src/storage-layer.ts"
import { createDatabase, newRange, onFile, temporaryFolder } from "./support.ts"

/** What a later version may do to a table on SQLite, which cannot change columns: build it anew. */
class RebuildRanges extends Migration {
  override async up(): Promise<void> {
    const [{ sql = "" } = {}] = await this.execute("select sql from sqlite_schema where name = 'ranges'")
    this.addSql(String(sql).replace(/^create table \W?ranges\W?/iu, "create table ranges_new "))
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
  subject: { type: "range", id: "LAB" as RangeId },
  by: "alice" as UserId,
  options: null,
  startedAt: new Date(0),
} as const

const oldRuns =
  "insert into runs (id, kind, range_id, busy_range_id, by_user, options, started_at, status, ended_at, last_seq, cancel_requested, generation, lease_owner, lease_until)"
/** What a version wrote that bound every run to a range: a run in work with its journal, and one that is over. `no` is the engine's false. */
const runningRun = (no: string): readonly string[] => [
  `${oldRuns} values ('${run.id}', 'deploy', 'LAB', 'LAB', 'alice', 'null', 0, 'running', null, 1, ${no}, 3, 'old', 4102444800000)`,
  `${oldRuns} values ('run000000000001', 'power', 'LAB', null, 'alice', 'null', 0, 'failure', 1, 0, ${no}, 1, null, null)`,
  `insert into journal_entries (run_id, seq, at, event) values ('${run.id}', 1, 0, '{"type":"Waiting","reason":"x"}')`,
]
const oldRanges = `insert into ranges (id, record_id, number, name, description, purpose, state, testing_enabled, allowed_domains, allowed_ips,
  created_at, updated_at, version)`
/** What any older version wrote of a user who owns a range. */
const aliceWithLab: readonly string[] = [
  `insert into users (id, record_id, number, name, email, is_admin, hypervisor_username, hypervisor_realm, has_completed_onboarding,
    created_at, updated_at, token_key) values ('alice', 'useralice000000', 2, 'alice', '', 0, 'alice', 'pve', 0, 0, 0, 'key')`,
  `${oldRanges} values ('LAB', 'recordlab000000', 1, '', '', '', 'DEPLOYING', 0, '[]', '[]', 0, 0, 1)`,
  `insert into range_configs (range_id, content, updated_at) values ('LAB', cast('ludus: []' || char(10) as blob), 0)`,
  `insert into range_grants (range_id, user_id) values ('LAB', 'alice')`,
]
const write = (file: string, statements: readonly string[]): void => {
  const database = new DatabaseSync(file)
  for (const statement of statements) database.exec(statement)
  database.close()
}

/** A folder as the version with these migrations left it, in the middle of a run. */
const oldFolder = async (migrations: MigrationList = first): Promise<string> => {
  const file = join(await temporaryFolder(), "data.db")
  await onVersion(file, migrations, Effect.void)
  write(file, [...aliceWithLab, ...runningRun("0")])
  return file
}

it("keeps all rows of an old database, including those that refer to a rebuilt table", async () => {
  const file = await oldFolder()
  await onVersion(
    file,
    later,
    Effect.gen(function* () {
      expect((yield* (yield* Ranges).list()).map((range) => range.id)).toEqual(["LAB"])
      expect((yield* (yield* Ranges).config(run.subject.id))?.text).toBe("ludus: []\n")
      expect(yield* (yield* Ranges).grants(run.subject.id)).toHaveLength(1)
      expect(yield* (yield* RunJournal).read(run.id, 0)).toHaveLength(1)
      yield* (yield* Ranges).remove(run.subject.id)
      expect(yield* (yield* RunJournal).find(run.id)).toBeUndefined()
    }),
  )
})

it("migrates a database of the first release, keeping all its rows", async () => {
  const file = await oldFolder()
  await onFile(
    file,
    Effect.gen(function* () {
      const groups = yield* Groups
      const ranges = yield* Ranges
      expect(yield* groups.list()).toEqual([])
      expect((yield* ranges.list({ for: run.by })).map(({ id, madeFor }) => [id, madeFor])).toEqual([["LAB", "alice"]])
      expect((yield* ranges.config(run.subject.id))?.text).toBe("ludus: []\n")
      expect(yield* (yield* RunJournal).read(run.id, 0)).toHaveLength(1)
      const name = "red" as GroupName
      yield* groups.create({ name, recordId: "groupred0000000" as RecordId, description: "", createdAt: new Date(0) })
      const before = yield* ranges.revision
      yield* groups.setRoles(name, new Map([[run.by, "member"]] as const))
      yield* groups.addRange(name, run.subject.id)
      expect(yield* ranges.revision).toBe(before + 2)
      expect((yield* ranges.grants(run.subject.id)).map((grant) => grant.accessType)).toEqual(["Direct", "Group Member"])
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
        requirements: undefined,
        bundle: undefined,
        thumbnail: undefined,
        createdAt: new Date(0),
      })
      yield* blueprints.shareWithGroup(id, name)
      expect((yield* blueprints.list({ for: run.by })).map((blueprint) => blueprint.sharedGroups)).toEqual([[name]])
    }),
  )
})

/** What is known of the mode of a range that is noted as cut off, after these statements in the tables of the version with so many migrations. */
const modeAfter = async (migrations: number, statements: readonly string[]) => {
  const file = join(await temporaryFolder(), "data.db")
  await onVersion(file, sqliteMigrations.slice(0, migrations), Effect.void)
  write(file, statements)
  return onFile(
    file,
    Ranges.use((ranges) => Effect.map(ranges.find(run.subject.id), (range) => range?.testing)),
  )
}

it("doubts that a range recorded as cut off by an older version is: nobody has checked its router", async () => {
  const cutOff = [...aliceWithLab, "update ranges set testing_enabled = 1, allowed_ips = '[\"203.0.113.9\"]'"]
  expect(await modeAfter(22, cutOff)).toEqual({ mode: "entering", allowedDomains: [], allowedIps: ["203.0.113.9"] })
})

it.each([
  ["testing-start", "success", "on"],
  ["testing-start", "partial", "on"],
  ["testing-change", "success", "on"],
  ["testing-start", "failure", "entering"],
  ["deploy", "success", "entering"],
])("after a run %s that ended in %s, a range that is noted as cut off is %s", async (kind, status, mode) => {
  const lab = `insert into ranges (id, record_id, number, name, description, purpose, state, testing_mode, allowed_domains, allowed_ips,
    created_at, updated_at) values ('LAB', 'recordlab000000', 1, '', '', '', 'SUCCESS', 'on', '[]', '[]', 0, 0)`
  const ran = `insert into runs (id, kind, subject, range_id, by_user, options, started_at, status, ended_at, last_seq, cancel_requested, generation)
    values ('run000000000009', '${kind}', 'range:LAB', 'LAB', 'alice', 'null', 0, '${status}', 1, 0, 0, 1)`
  expect((await modeAfter(34, [lab, ran]))?.mode).toBe(mode)
})

it("keeps the content of rebuilt tables, and that it is deleted with its range", async () => {
  const file = join(await temporaryFolder(), "data.db")
  const before = sqliteMigrations.findIndex(({ name }) => name === "0044-fewer-pages")
  await onVersion(file, sqliteMigrations.slice(0, before), Effect.void)
  write(file, [
    `insert into ranges (id, record_id, number, name, description, purpose, state, allowed_domains, allowed_ips, created_at, updated_at)
      values ('LAB', 'recordlab000000', 1, '', '', '', 'SUCCESS', '[]', '[]', 0, 0)`,
    "insert into machine_stages values ('LAB', 20000, 'address', 'print')",
    `insert into machine_systems values ('LAB', 20000, '{"id":"debian"}')`,
    "insert into vmid_reservations values ('LAB', 'LAB-kali', 20000)",
    "insert into told_routers values ('LAB', '[4]')",
  ])
  const told = () => {
    const database = new DatabaseSync(file)
    const rows = database.prepare("select * from told_routers").all()
    database.close()
    return rows.map((row) => ({ ...row }))
  }
  const kept = Effect.gen(function* () {
    const machines = yield* Machines
    const id = run.subject.id
    return [yield* machines.stages(id), yield* machines.systems(id), yield* machines.reservations(id)]
  })
  expect(await onFile(file, kept)).toEqual([
    new Map([[20_000, new Map([["address", "print"]])]]),
    new Map([[20_000, { id: "debian" }]]),
    new Map([["LAB-kali", 20_000]]),
  ])
  expect(told()).toEqual([{ range_id: "LAB", users: "[4]" }])
  const after = Effect.andThen(
    Ranges.use((ranges) => ranges.remove(run.subject.id)),
    kept,
  )
  expect(await onFile(file, after)).toEqual([new Map(), new Map(), new Map()])
  expect(told()).toEqual([])
})

const goesOnWithTheRun = Effect.gen(function* () {
  const journal = yield* RunJournal
  const record = { ...run, status: "running", endedAt: undefined, lastSeq: 1, cancelRequested: false, ordinal: 1 }
  expect(yield* journal.active(run.subject)).toEqual(record)
  expect(yield* journal.unfinished).toEqual([record])
  expect((yield* journal.list({ subject: run.subject, limit: 9 })).map(({ status }) => status)).toEqual(["failure", "running"])
  // its lease was until a time of day, by which none is measured any more
  expect(yield* journal.claim(run.id, "new", 30)).toBe(4)
  expect((yield* journal.append(run.id, 4, [{ type: "Resumed", generation: 4 }], new Date(6000)))[0]?.seq).toBe(2)
  expect(yield* Effect.flip(journal.open({ ...run, id: "run000000000002" as RunId }, undefined))).toBeInstanceOf(SubjectTaken)
  yield* (yield* Ranges).remove(run.subject.id)
  expect(yield* journal.list({ limit: 9 })).toEqual([])
  expect(yield* journal.read(run.id, 0)).toEqual([])
})

it("continues the run that an older version left, as a run of its range", async () => {
  await onFile(await oldFolder(sqliteMigrations.slice(0, 4)), goesOnWithTheRun)
})

it.skipIf(process.env["RANGEWRIGHT_TEST_POSTGRES"] === undefined)(
  "goes on with such a run on PostgreSQL too (needs RANGEWRIGHT_TEST_POSTGRES)",
  async () => {
    const database = await createDatabase(process.env["RANGEWRIGHT_TEST_POSTGRES"] ?? "")
    try {
      const orm = await postgresOrm(database.url, postgresMigrations.slice(0, 4))
      await orm.migrator.up()
      const range = `${oldRanges} values ('LAB', 'recordlab000000', 1, '', '', '', 'DEPLOYING', false, '[]', '[]', 0, 0, 1)`
      for (const statement of [range, ...runningRun("false")]) await orm.em.getConnection().execute(statement)
      await orm.close()
      await Effect.runPromise(Effect.provide(goesOnWithTheRun, storageLayer({ databaseUrl: database.url })))
    } finally {
      await database.drop()
    }
  },
)

/** Runs of the version before runs had ordinals, as [id, start]. */
const datedRun = (id: string, start: number, no: string): string =>
  `insert into runs (id, kind, subject, by_user, options, started_at, status, ended_at, last_seq, cancel_requested, generation)
    values ('${id}', 'source-fetch', 'source:s', 'alice', 'null', ${start}, 'success', 0, 0, ${no}, 1)`
const withoutOrdinals = sqliteMigrations.findIndex(({ name }) => name === "0049-run-ordinals")
const sortsOldRuns = Effect.gen(function* () {
  const journal = yield* RunJournal
  const source = { type: "source", id: "s" } as const
  yield* journal.open({ ...run, id: "runnew000000000" as RunId, subject: source, startedAt: new Date(1) }, undefined)
  expect((yield* journal.list({ subject: source, limit: 9 })).map(({ id, ordinal }) => [id, ordinal])).toEqual([
    ["runnew000000000", 4],
    ["run000000000001", 3],
    ["run000000000003", 2],
    ["run000000000002", 1],
  ])
})

it("numbers the runs of an older version by their start, and new ones after them", async () => {
  const file = join(await temporaryFolder(), "data.db")
  await onVersion(file, sqliteMigrations.slice(0, withoutOrdinals), Effect.void)
  write(file, [datedRun("run000000000001", 9, "0"), datedRun("run000000000002", 2, "0"), datedRun("run000000000003", 2, "0")])
  await onFile(file, sortsOldRuns)
})

it.skipIf(process.env["RANGEWRIGHT_TEST_POSTGRES"] === undefined)(
  "numbers such runs on PostgreSQL too, and those that instances of an older version open beside newer ones (needs RANGEWRIGHT_TEST_POSTGRES)",
  async () => {
    const database = await createDatabase(process.env["RANGEWRIGHT_TEST_POSTGRES"] ?? "")
    try {
      const orm = await postgresOrm(database.url, postgresMigrations.slice(0, withoutOrdinals))
      await orm.migrator.up()
      for (const [id, start] of [
        ["run000000000002", 2],
        ["run000000000003", 2],
      ] as const)
        await orm.em.getConnection().execute(datedRun(id, start, "false"))
      const on = <A, E>(program: Effect.Effect<A, E, RunJournal>) =>
        Effect.runPromise(Effect.provide(program, storageLayer({ databaseUrl: database.url }), { local: true }))
      await on(Effect.asVoid(RunJournal.use((journal) => journal.list({ limit: 1 }))))
      await orm.em.getConnection().execute(datedRun("run000000000001", 1, "false"))
      await orm.close()
      await on(sortsOldRuns)
    } finally {
      await database.drop()
    }
  },
)

/** Ranges that differ only in case, as older versions allowed them. `no` is the engine's false. */
const alikeRanges = (no: string): readonly string[] =>
  ["lab", "Lab", "OTHER"].map(
    (id, i) => `${oldRanges} values ('${id}', 'record${i}00000000', ${i + 5}, '', '', '', 'SUCCESS', ${no}, '[]', '[]', 0, 0, 1)`,
  )
const keepsAlikeRanges = Effect.gen(function* () {
  const ranges = yield* Ranges
  expect((yield* ranges.list()).map(({ id }) => id)).toEqual(["LAB", "lab", "Lab", "OTHER"])
  for (const id of ["lAB", "LAB", "other"])
    expect(yield* Effect.flip(ranges.create({ ...newRange(id), createdBy: undefined, owners: [] }))).toBeInstanceOf(RangeExists)
  // each is a range like any other; the last of them frees the ID
  for (const id of ["LAB", "Lab"]) yield* ranges.remove(id as RangeId)
  const again = { ...newRange("LAB"), createdBy: undefined, owners: [] }
  expect(yield* Effect.flip(ranges.create(again))).toBeInstanceOf(RangeExists)
  yield* ranges.remove("lab" as RangeId)
  expect((yield* ranges.create(again)).id).toBe("LAB")
})

it("keeps ranges that differ only in case, and lets nobody make more of them", async () => {
  const file = join(await temporaryFolder(), "data.db")
  await onVersion(file, sqliteMigrations.slice(0, 10), Effect.void)
  write(file, [...aliceWithLab, ...alikeRanges("0")])
  await onFile(file, keepsAlikeRanges)
  // the table itself refuses what slips past the check
  expect(() => write(file, ["update ranges set id_key = 'lab' where id = 'OTHER'"])).toThrow(/UNIQUE/u)
})

it.skipIf(process.env["RANGEWRIGHT_TEST_POSTGRES"] === undefined)(
  "keeps such ranges on PostgreSQL too (needs RANGEWRIGHT_TEST_POSTGRES)",
  async () => {
    const database = await createDatabase(process.env["RANGEWRIGHT_TEST_POSTGRES"] ?? "")
    try {
      const orm = await postgresOrm(database.url, postgresMigrations.slice(0, 10))
      await orm.migrator.up()
      const first = `${oldRanges} values ('LAB', 'recordlab000000', 1, '', '', '', 'DEPLOYING', false, '[]', '[]', 0, 0, 1)`
      for (const statement of [first, ...alikeRanges("false")]) await orm.em.getConnection().execute(statement)
      await orm.close()
      await Effect.runPromise(Effect.provide(keepsAlikeRanges, storageLayer({ databaseUrl: database.url })))
    } finally {
      await database.drop()
    }
  },
)

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

it("checks what rows refer to after a migration, and reads no rows without one", async () => {
  const file = await oldFolder()
  await onVersion(file, sqliteMigrations, Effect.void)
  write(file, ["pragma foreign_keys = off", "insert into range_grants (range_id, user_id) values ('GONE', 'alice')"])
  await onVersion(file, sqliteMigrations, Effect.void)
  const broken = onVersion(file, later, Effect.void)
  await expect(broken).rejects.toMatchObject({
    message: expect.stringMatching(/rows refer to rows that no longer exist: .*range_grants/u),
  })
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
