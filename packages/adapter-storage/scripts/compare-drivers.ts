// usage: node packages/adapter-storage/scripts/compare-drivers.ts
//
// Compares the two SQLite drivers that MikroORM can run on, alternately, on the real schema: better-sqlite3, which it ships with, and
// Node's own with our dialect. Produces the figures of ADR 0003.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Migrator } from "@mikro-orm/migrations"
import { MikroORM, SqliteDriver } from "@mikro-orm/sqlite"
import { migrationOptions } from "../src/engine/migrate.ts"
import type { Tables } from "../src/engine/orm.ts"
import { sqliteOrm } from "../src/engine/sqlite.ts"
import { sqliteMigrations } from "../src/migrations/index.ts"
import { entities } from "../src/schema/tables.ts"

const rounds = 5
const millis = 300

const betterSqlite = (file: string) =>
  MikroORM.init({
    driver: SqliteDriver,
    entities: [...entities],
    extensions: [Migrator],
    ensureDatabase: false,
    dbName: file,
    migrations: migrationOptions(sqliteMigrations),
  })

const user = (n: number) => ({
  id: `u${n}`,
  record_id: `r${n}`,
  number: n,
  name: "x",
  email: "",
  email_key: null,
  is_admin: 0 as never,
  hypervisor_username: `u${n}`,
  hypervisor_realm: "pve",
  default_range_id: null,
  has_completed_onboarding: 0 as never,
  created_at: 0,
  updated_at: 0,
  last_active_at: null,
  api_key_hash: null,
  sealed_password: null,
  token_key: "",
})

const rate = async (work: () => Promise<unknown>): Promise<number> => {
  for (let i = 0; i < 50; i++) await work()
  const start = performance.now()
  let n = 0
  for (; performance.now() - start < millis; n++) await work()
  return (n / (performance.now() - start)) * 1000
}

const prepare = async (open: (file: string) => Promise<MikroORM>, file: string) => {
  const start = performance.now()
  const orm = await open(file)
  for (const pragma of ["journal_mode = wal", "synchronous = full"]) await orm.em.getConnection().execute(`pragma ${pragma}`)
  await orm.migrator.up()
  const opened = performance.now() - start
  const db = orm.em.fork().getKysely<Tables>()
  await db
    .insertInto("users")
    .values(Array.from({ length: 100 }, (_, i) => user(i + 2)))
    .execute()
  let next = 1000
  const works: Readonly<Record<string, () => Promise<unknown>>> = {
    "read one row (Kysely)": () => db.selectFrom("users").selectAll().where("id", "=", "u50").executeTakeFirst(),
    "read 100 rows (Kysely)": () => db.selectFrom("users").selectAll().execute(),
    "insert in a transaction, synced": () =>
      db.transaction().execute((tx) => tx.insertInto("resting_user_numbers").values({ number: next++, since: 0 }).execute()),
    "raw SQL through MikroORM": () => orm.em.getConnection().execute("select * from users where id = ?", ["u50"]),
  }
  return { orm, opened, works }
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const folder = mkdtempSync(join(tmpdir(), "rangewright-drivers-"))
const ours = await prepare((file) => sqliteOrm(file), join(folder, "node.db"))
const better = await prepare(betterSqlite, join(folder, "better.db"))
const line = (...cells: readonly string[]) =>
  process.stdout.write(
    `${cells[0]?.padEnd(34)}${cells
      .slice(1)
      .map((c) => c.padStart(16))
      .join("")}\n`,
  )
line("operations a second", "node:sqlite", "better-sqlite3", "ratio")
for (const name of Object.keys(ours.works)) {
  const rates = { ours: [] as number[], better: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    rates.ours.push(await rate(ours.works[name] ?? (async () => {})))
    rates.better.push(await rate(better.works[name] ?? (async () => {})))
  }
  const [a, b] = [median(rates.ours), median(rates.better)]
  line(name, a.toFixed(0), b.toFixed(0), (a / b).toFixed(2))
}
line("open and migrate, ms", ours.opened.toFixed(0), better.opened.toFixed(0), "")
await ours.orm.close()
await better.orm.close()
rmSync(folder, { recursive: true })
