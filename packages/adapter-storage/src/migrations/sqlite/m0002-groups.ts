import { Migration } from "@mikro-orm/migrations"

const statements: readonly string[] = [
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
]

/** Groups of users and the ranges they have. Released: never changed. */
export class M0002Groups extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
