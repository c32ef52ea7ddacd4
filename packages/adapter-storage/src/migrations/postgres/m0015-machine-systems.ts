import { Migration } from "@mikro-orm/migrations"

const statements = [
  `create table machine_systems (
    range_id varchar(255) not null,
    vmid int not null,
    system text not null,
    primary key (range_id, vmid)
  )`,
  `alter table machine_systems add constraint machine_systems_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade`,
]

/** What guests said of their operating systems. Released: never changed. */
export class M0015MachineSystems extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
