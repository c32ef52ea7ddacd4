import { Migration } from "@mikro-orm/migrations"

const statements: readonly string[] = [
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
]

/** Blueprints and with whom they are shared. Released: never changed. */
export class M0003Blueprints extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
