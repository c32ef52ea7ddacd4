import { Migration } from "@mikro-orm/migrations"
import type { MigrationList } from "../engine/migrate.ts"

/**
 * One step from a version of the schema to the next: SQL statements for both engines, or separate ones for each. Released steps never
 * change.
 */
export type SchemaChange = { readonly name: string } & (
  | { readonly both: readonly string[] }
  | { readonly sqlite: readonly string[]; readonly postgresql: readonly string[] }
)

/** The changes as MikroORM's migrations for one engine. */
export const migrationsFor = (engine: "sqlite" | "postgresql", changes: readonly SchemaChange[]): MigrationList =>
  changes.map((change) => ({
    name: change.name,
    class: class extends Migration {
      override up(): void {
        for (const statement of "both" in change ? change.both : change[engine]) this.addSql(statement)
      }
    },
  }))
