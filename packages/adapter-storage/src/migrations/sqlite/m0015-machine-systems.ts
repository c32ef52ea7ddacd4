import { Migration } from "@mikro-orm/migrations"

const statements = [
  `create table machine_systems (
    range_id text not null,
    vmid integer not null,
    system text not null,
    primary key (range_id, vmid),
    constraint machine_systems_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade
  )`,
  `create index machine_systems_range_id_index on machine_systems (range_id)`,
]

/** What guests said of their operating systems. Released: never changed. */
export class M0015MachineSystems extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
