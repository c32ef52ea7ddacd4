import { Migration } from "@mikro-orm/migrations"

/** Ranges know whether an older service made them. Released: never changed. */
export class M0010TakenOverRanges extends Migration {
  override up(): void {
    this.addSql(`alter table ranges add column taken_over boolean not null default false`)
  }
}
