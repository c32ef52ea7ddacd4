import type { SchemaChange } from "./schema-change.ts"

/** Machines have logins of their own. Released: never changed. */
export const m0014MachineLogins: SchemaChange = {
  name: "0014-machine-logins",
  sqlite: [
    `create table machine_logins (
    range_id text not null,
    vmid integer not null,
    sealed text null,
    sealed_next text null,
    primary key (range_id, vmid),
    constraint machine_logins_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade
  )`,
    `create index machine_logins_range_id_index on machine_logins (range_id)`,
  ],
  postgresql: [
    `create table machine_logins (
    range_id varchar(255) not null,
    vmid int not null,
    sealed text null,
    sealed_next text null,
    primary key (range_id, vmid)
  )`,
    `alter table machine_logins add constraint machine_logins_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade`,
  ],
}
