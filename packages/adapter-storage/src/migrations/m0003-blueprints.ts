import type { SchemaChange } from "./schema-change.ts"

/** Blueprints and with whom they are shared. Released: never changed. */
export const m0003Blueprints: SchemaChange = {
  name: "0003-blueprints",
  sqlite: [
    `create table blueprints (
    id text not null primary key,
    record_id text not null,
    owner text null,
    name text not null,
    description text not null,
    version text not null,
    tags text not null,
    min_version text not null,
    created_at bigint not null,
    updated_at bigint not null,
    config text not null,
    constraint blueprints_owner_foreign foreign key (owner) references users (id) on delete set null
  )`,
    `create unique index blueprints_record_unique on blueprints (record_id)`,
    `create index blueprints_owner_index on blueprints (owner)`,
    `create table blueprint_users (
    blueprint_id text not null,
    user_id text not null,
    primary key (blueprint_id, user_id),
    constraint blueprint_users_blueprint_id_foreign foreign key (blueprint_id) references blueprints (id) on update cascade on delete cascade,
    constraint blueprint_users_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade
  )`,
    `create index blueprint_users_blueprint_id_index on blueprint_users (blueprint_id)`,
    `create index blueprint_users_user_id_index on blueprint_users (user_id)`,
    `create table blueprint_groups (
    blueprint_id text not null,
    group_name text not null,
    primary key (blueprint_id, group_name),
    constraint blueprint_groups_blueprint_id_foreign foreign key (blueprint_id) references blueprints (id) on update cascade on delete cascade,
    constraint blueprint_groups_group_name_foreign foreign key (group_name) references user_groups (name) on update cascade on delete cascade
  )`,
    `create index blueprint_groups_blueprint_id_index on blueprint_groups (blueprint_id)`,
    `create index blueprint_groups_group_name_index on blueprint_groups (group_name)`,
  ],
  postgresql: [
    `create table blueprints (
    id varchar(255) not null,
    record_id varchar(255) not null,
    owner varchar(255) null,
    name text not null,
    description text not null,
    version text not null,
    tags text not null,
    min_version text not null,
    created_at bigint not null,
    updated_at bigint not null,
    config text not null,
    primary key (id)
  )`,
    `alter table blueprints add constraint blueprints_record_unique unique (record_id)`,
    `create table blueprint_users (
    blueprint_id varchar(255) not null,
    user_id varchar(255) not null,
    primary key (blueprint_id, user_id)
  )`,
    `create table blueprint_groups (
    blueprint_id varchar(255) not null,
    group_name varchar(255) not null,
    primary key (blueprint_id, group_name)
  )`,
    `alter table blueprints add constraint blueprints_owner_foreign foreign key (owner) references users (id) on delete set null`,
    `alter table blueprint_users add constraint blueprint_users_blueprint_id_foreign foreign key (blueprint_id) references blueprints (id) on update cascade on delete cascade`,
    `alter table blueprint_users add constraint blueprint_users_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade`,
    `alter table blueprint_groups add constraint blueprint_groups_blueprint_id_foreign foreign key (blueprint_id) references blueprints (id) on update cascade on delete cascade`,
    `alter table blueprint_groups add constraint blueprint_groups_group_name_foreign foreign key (group_name) references user_groups (name) on update cascade on delete cascade`,
  ],
}
