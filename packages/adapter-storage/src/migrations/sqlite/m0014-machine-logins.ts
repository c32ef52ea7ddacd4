import { Migration } from "@mikro-orm/migrations"

const statements = [
  `create table machine_logins (
    range_id text not null,
    vmid integer not null,
    sealed text null,
    sealed_next text null,
    primary key (range_id, vmid),
    constraint machine_logins_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade
  )`,
  `create index machine_logins_range_id_index on machine_logins (range_id)`,
]

/** Machines have logins of their own. Released: never changed. */
export class M0014MachineLogins extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
