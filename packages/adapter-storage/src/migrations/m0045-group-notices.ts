import type { SchemaChange } from "./schema-change.ts"

/** Groups have notices. Released: never changed. */
export const m0045GroupNotices: SchemaChange = {
  name: "0045-group-notices",
  sqlite: [
    `create table group_notices (
    group_name text not null primary key,
    text text not null,
    by_user text not null,
    at bigint not null,
    until bigint not null,
    constraint group_notices_group_name_foreign foreign key (group_name) references user_groups (name) on update cascade on delete cascade
  )`,
    ...["insert", "update", "delete"].map(
      (change) =>
        `create trigger revision_group_notices_${change} after ${change} on group_notices begin update revision set value = value + 1; end`,
    ),
  ],
  postgresql: [
    `create table group_notices (
    group_name varchar(255) not null,
    text text not null,
    by_user varchar(255) not null,
    at bigint not null,
    until bigint not null,
    primary key (group_name)
  )`,
    `alter table group_notices add constraint group_notices_group_name_foreign foreign key (group_name) references user_groups (name) on update cascade on delete cascade`,
    `create trigger revision_group_notices after insert or update or delete on group_notices for each statement execute function raise_revision()`,
  ],
}
