import { Migration } from "@mikro-orm/migrations"

const statements = [
  `alter table machines add column missing_since bigint null`,
  `alter table observation add column doubt_since bigint null`,
  `alter table observation add column doubt_reason text null`,
]

/** Machines that a list lacks stay, and lists may be in doubt. Released: never changed. */
export class M0018MissingMachines extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
