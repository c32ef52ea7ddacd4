// usage: RANGEWRIGHT_TEST_POSTGRES=<url of a throw-away server> node packages/adapter-storage/scripts/new-migration.ts 0002-what-changes
//
// Compares the entities with what all migrations make, and writes the difference for each engine beside the older migrations. Read and
// mend it: a table that SQLite builds anew loses its triggers (m0001-initial has them), and rows may need a new value. Then add the class
// to the engine's index.ts.
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

const className = `M${name.replaceAll(/-([a-z0-9])/gu, (_, letter: string) => letter.toUpperCase())}`
const write = async (engine: string, orm: SqlMikroORM): Promise<void> => {
  await orm.migrator.up()
  const statements = await schemaDifference(orm)
  await orm.close()
  process.stdout.write(`${engine}: ${statements.length} statements\n`)
  if (statements.length === 0) return
  const lines = statements.map((statement) => `  ${JSON.stringify(statement)},`).join("\n")
  writeFileSync(
    join(import.meta.dirname, "../src/migrations", engine, `m${name}.ts`),
    `import { Migration } from "@mikro-orm/migrations"

const statements: readonly string[] = [
${lines}
]

export class ${className} extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
`,
  )
}

const folder = mkdtempSync(join(tmpdir(), "rangewright-migration-"))
await write("sqlite", await sqliteOrm(join(folder, "scratch.db")))
rmSync(folder, { recursive: true })
await write("postgres", await postgresOrm(server))
