import { Migration } from "@mikro-orm/migrations"

const statements: readonly string[] = [
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
]

/** Groups of users and the ranges they have. Released: never changed. */
export class M0002Groups extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
