import type { SchemaChange } from "./schema-change.ts"

/** Groups of users and the ranges they have. Released: never changed. */
export const m0002Groups: SchemaChange = {
  name: "0002-groups",
  sqlite: [
    `create table user_groups (
    name text not null primary key,
    record_id text not null,
    description text not null,
    created_at bigint not null
  )`,
    `create unique index user_groups_record_unique on user_groups (record_id)`,
    `create table group_members (
    group_name text not null,
    user_id text not null,
    role text not null,
    primary key (group_name, user_id),
    constraint group_members_group_name_foreign foreign key (group_name) references user_groups (name) on update cascade on delete cascade,
    constraint group_members_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade
  )`,
    `create index group_members_group_name_index on group_members (group_name)`,
    `create index group_members_user_id_index on group_members (user_id)`,
    `create table group_ranges (
    group_name text not null,
    range_id text not null,
    primary key (group_name, range_id),
    constraint group_ranges_group_name_foreign foreign key (group_name) references user_groups (name) on update cascade on delete cascade,
    constraint group_ranges_range_id_foreign foreign key (range_id) references ranges (id) on update cascade on delete cascade
  )`,
    `create index group_ranges_group_name_index on group_ranges (group_name)`,
    `create index group_ranges_range_id_index on group_ranges (range_id)`,
    // a user's overview shows what the user has by a group
    ...["group_members", "group_ranges"].flatMap((table) =>
      ["insert", "update", "delete"].map(
        (change) =>
          `create trigger revision_${table}_${change} after ${change} on ${table} begin update revision set value = value + 1; end`,
      ),
    ),
  ],
  postgresql: [
    `create table user_groups (
    name varchar(255) not null,
    record_id varchar(255) not null,
    description text not null,
    created_at bigint not null,
    primary key (name)
  )`,
    `alter table user_groups add constraint user_groups_record_unique unique (record_id)`,
    `create table group_members (
    group_name varchar(255) not null,
    user_id varchar(255) not null,
    role varchar(16) not null,
    primary key (group_name, user_id)
  )`,
    `create table group_ranges (
    group_name varchar(255) not null,
    range_id varchar(255) not null,
    primary key (group_name, range_id)
  )`,
    `alter table group_members add constraint group_members_group_name_foreign foreign key (group_name) references user_groups (name) on update cascade on delete cascade`,
    `alter table group_members add constraint group_members_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade`,
    `alter table group_ranges add constraint group_ranges_group_name_foreign foreign key (group_name) references user_groups (name) on update cascade on delete cascade`,
    `alter table group_ranges add constraint group_ranges_range_id_foreign foreign key (range_id) references ranges (id) on update cascade on delete cascade`,
    // a user's overview shows what the user has by a group
    ...["group_members", "group_ranges"].map(
      (table) =>
        `create trigger revision_${table} after insert or update or delete on ${table} for each statement execute function raise_revision()`,
    ),
  ],
}
