// usage: RANGEWRIGHT_TEST_POSTGRES=<url of a throw-away server> node packages/adapter-storage/scripts/new-migration.ts 0002-what-changes
//
// Compares the declared tables with the result of all migrations, and writes the difference as a new migration. Read and correct it: a
// table that SQLite rebuilds loses its triggers (m0001-initial has them), and rows may need a new value. Then add it to index.ts there.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { SqlMikroORM } from "@mikro-orm/sql"
import { postgresOrm } from "../src/engine/postgres.ts"
import { sqliteOrm } from "../src/engine/sqlite.ts"
import { schemaDifference } from "./schema-difference.ts"

const name = process.argv[2] ?? ""
const server = process.env["RANGEWRIGHT_TEST_POSTGRES"]
if (!/^\d{4}-[a-z0-9-]+$/u.test(name)) throw new Error("name the migration: 0002-what-changes")
if (server === undefined)
  throw new Error("RANGEWRIGHT_TEST_POSTGRES names no server: tools/postgres-for-tests.sh start makes one")

const difference = async (engine: string, orm: SqlMikroORM): Promise<string> => {
  await orm.migrator.up()
  // in the style of the older ones: without quotes, and with `add column` as SQLite has it
  const statements = (await schemaDifference(orm)).map((statement) =>
    statement
      .replaceAll(/["`](\w+)["`]/gu, "$1")
      .replaceAll(/\badd (?!column|constraint|primary|unique|foreign)/gu, "add column "),
  )
  await orm.close()
  process.stdout.write(`${engine}: ${statements.length} statements\n`)
  return `[${statements.map((statement) => `\n    ${JSON.stringify(statement)},`).join("")}\n  ]`
}

const folder = mkdtempSync(join(tmpdir(), "rangewright-migration-"))
const sqlite = await difference("sqlite", await sqliteOrm(join(folder, "scratch.db")))
rmSync(folder, { recursive: true })
const postgresql = await difference("postgresql", await postgresOrm(server))
const constant = `m${name.replaceAll(/-([a-z0-9])/gu, (_, letter: string) => letter.toUpperCase())}`
writeFileSync(
  join(import.meta.dirname, "../src/migrations", `m${name}.ts`),
  `import type { SchemaChange } from "./schema-change.ts"

/** What it is for. Released: never changed. */
export const ${constant}: SchemaChange = {
  name: "${name}",
  ${sqlite === postgresql ? `both: ${sqlite},` : `sqlite: ${sqlite},\n  postgresql: ${postgresql},`}
}
`,
)
