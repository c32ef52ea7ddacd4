import { Migration } from "@mikro-orm/migrations"

/** Machines have the addresses that their guests claim and that belong to others. Released: never changed. */
export class M0012ForeignAddresses extends Migration {
  override up(): void {
    this.addSql(`alter table machines add column foreign_addresses text not null default '[]'`)
  }
}
