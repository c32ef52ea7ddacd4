import { Migration } from "@mikro-orm/migrations"

const statements: readonly string[] = [
  `create table migration_records (
    id varchar(255) not null,
    record text not null,
    primary key (id)
  )`,
]

/** What an installation was like before its networks moved. Released: never changed. */
export class M0008MigrationRecords extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
