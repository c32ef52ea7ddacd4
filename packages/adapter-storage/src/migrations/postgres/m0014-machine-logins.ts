import { Migration } from "@mikro-orm/migrations"

const statements = [
  `create table machine_logins (
    range_id varchar(255) not null,
    vmid int not null,
    sealed text null,
    sealed_next text null,
    primary key (range_id, vmid)
  )`,
  `alter table machine_logins add constraint machine_logins_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade`,
]

/** Machines have logins of their own. Released: never changed. */
export class M0014MachineLogins extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
