import type { SchemaChange } from "./schema-change.ts"

/** What guests said of their operating systems. Released: never changed. */
export const m0015MachineSystems: SchemaChange = {
  name: "0015-machine-systems",
  sqlite: [
    `create table machine_systems (
    range_id text not null,
    vmid integer not null,
    system text not null,
    primary key (range_id, vmid),
    constraint machine_systems_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade
  )`,
    `create index machine_systems_range_id_index on machine_systems (range_id)`,
  ],
  postgresql: [
    `create table machine_systems (
    range_id varchar(255) not null,
    vmid int not null,
    system text not null,
    primary key (range_id, vmid)
  )`,
    `alter table machine_systems add constraint machine_systems_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade`,
  ],
}
