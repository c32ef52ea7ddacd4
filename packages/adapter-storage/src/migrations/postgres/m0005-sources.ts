import { Migration } from "@mikro-orm/migrations"

const statements: readonly string[] = [
  `create table sources (
    record_id varchar(255) not null,
    id varchar(255) not null,
    owner varchar(255) not null,
    type varchar(16) not null,
    url text not null,
    ref text not null,
    path text not null,
    access text null,
    name text not null,
    description text not null,
    homepage text not null,
    license text not null,
    authors text not null,
    snapshot text null,
    last_synced_at bigint null,
    last_sync_status varchar(16) not null,
    last_sync_error text not null,
    schedule text null,
    next_sync_at bigint null,
    created_at bigint not null,
    primary key (record_id)
  )`,
  `alter table sources add constraint sources_id_unique unique (id)`,
  `create table source_claims (
    source_record_id varchar(255) not null,
    kind varchar(32) not null,
    name varchar(500) not null,
    holder varchar(255) not null,
    user_id varchar(255) null,
    version text not null,
    primary key (source_record_id, kind, name, holder)
  )`,
  `alter table sources add constraint sources_owner_foreign foreign key (owner) references users (id) on delete cascade`,
  `alter table source_claims add constraint source_claims_source_record_id_foreign foreign key (source_record_id) references sources (record_id) on delete cascade`,
  `alter table source_claims add constraint source_claims_user_id_foreign foreign key (user_id) references users (id) on delete cascade`,
]

/** Sources, and what was installed from them. Released: never changed. */
export class M0005Sources extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
