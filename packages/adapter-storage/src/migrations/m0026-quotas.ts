import type { SchemaChange } from "./schema-change.ts"

/** Older ranges are charged to their creator, or else to the first of those who have them directly (`payerOf`). */
const firstPayers = `update ranges set made_for = case
    when exists (select 1 from range_grants g where g.range_id = ranges.id and g.user_id = ranges.created_by) then created_by
    else (select g.user_id from range_grants g join users u on u.id = g.user_id where g.range_id = ranges.id order by u.number limit 1)
  end`

/** What users and groups may take, and who is charged for a range. Released: never changed. */
export const m0026Quotas: SchemaChange = {
  name: "0026-quotas",
  sqlite: [
    "create table group_quotas (group_name text not null primary key, ram integer not null, cpus integer not null, vms integer not null, ranges integer not null, constraint group_quotas_group_name_foreign foreign key (group_name) references user_groups (name) on update cascade on delete cascade)",
    "create index group_quotas_group_name_index on group_quotas (group_name)",
    "create table user_quotas (user_id text not null primary key, ram integer not null, cpus integer not null, vms integer not null, ranges integer not null, constraint user_quotas_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade)",
    "create index user_quotas_user_id_index on user_quotas (user_id)",
    "alter table ranges add column made_for text null constraint ranges_made_for_foreign references users (id) on delete set null",
    "create index ranges_made_for_index on ranges (made_for)",
    firstPayers,
  ],
  postgresql: [
    "create table group_quotas (group_name varchar(255) not null, ram int not null, cpus int not null, vms int not null, ranges int not null, primary key (group_name))",
    "create table user_quotas (user_id varchar(255) not null, ram int not null, cpus int not null, vms int not null, ranges int not null, primary key (user_id))",
    "alter table ranges add column made_for varchar(255) null",
    firstPayers,
    "alter table ranges add constraint ranges_made_for_foreign foreign key (made_for) references users (id) on delete set null",
    "alter table group_quotas add constraint group_quotas_group_name_foreign foreign key (group_name) references user_groups (name) on update cascade on delete cascade",
    "alter table user_quotas add constraint user_quotas_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade",
  ],
}
