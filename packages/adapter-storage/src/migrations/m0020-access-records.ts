import type { SchemaChange } from "./schema-change.ts"

/** What access on the hypervisor and on routers follows from, and what was given there. Released: never changed. */
export const m0020AccessRecords: SchemaChange = {
  name: "0020-access-records",
  sqlite: [
    `alter table users add column password_version text not null default ''`,
    // nobody else has it: as good as any other text for a password that has not changed yet
    `update users set password_version = record_id`,
    `create table held_access (
    id integer not null primary key,
    version integer not null,
    record text not null
  )`,
    `create table told_routers (
    range_id text not null primary key,
    users text not null,
    constraint told_routers_range_id_foreign foreign key (range_id) references ranges (id) on update cascade on delete cascade
  )`,
    `create index told_routers_range_id_index on told_routers (range_id)`,
  ],
  postgresql: [
    `alter table users add column password_version text not null default ''`,
    // nobody else has it: as good as any other text for a password that has not changed yet
    `update users set password_version = record_id`,
    `create table held_access (
    id int not null primary key,
    version int not null,
    record text not null
  )`,
    `create table told_routers (
    range_id varchar(255) not null,
    users text not null,
    primary key (range_id)
  )`,
    `alter table told_routers add constraint told_routers_range_id_foreign foreign key (range_id) references ranges (id) on update cascade on delete cascade`,
  ],
}
