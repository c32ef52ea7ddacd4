import type { SchemaChange } from "./schema-change.ts"

/** What machines that were rolled back are to be set to again. Released: never changed. */
export const m0024MachineDebts: SchemaChange = {
  name: "0024-machine-debts",
  sqlite: [
    `create table machine_debts (
    range_id text not null,
    vmid integer not null,
    settings text not null,
    generation text null,
    primary key (range_id, vmid),
    constraint machine_debts_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade
  )`,
    `create index machine_debts_range_id_index on machine_debts (range_id)`,
  ],
  postgresql: [
    `create table machine_debts (
    range_id varchar(255) not null,
    vmid int not null,
    settings text not null,
    generation text null,
    primary key (range_id, vmid)
  )`,
    `alter table machine_debts add constraint machine_debts_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade`,
  ],
}
