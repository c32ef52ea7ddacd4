import { Migration } from "@mikro-orm/migrations"

const statements: readonly string[] = [
  `create table migration_records (
    id text not null primary key,
    record text not null
  )`,
]

/** What an installation was like before its networks moved. Released: never changed. */
export class M0008MigrationRecords extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
