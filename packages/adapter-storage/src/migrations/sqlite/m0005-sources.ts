import { Migration } from "@mikro-orm/migrations"

const statements: readonly string[] = [
  `create table sources (
    record_id text not null primary key,
    id text not null,
    owner text not null,
    type text not null,
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
    last_sync_status text not null,
    last_sync_error text not null,
    schedule text null,
    next_sync_at bigint null,
    created_at bigint not null,
    constraint sources_owner_foreign foreign key (owner) references users (id) on delete cascade
  )`,
  `create unique index sources_id_unique on sources (id)`,
  `create index sources_owner_index on sources (owner)`,
  `create table source_claims (
    source_record_id text not null,
    kind text not null,
    name text not null,
    holder text not null,
    user_id text null,
    version text not null,
    primary key (source_record_id, kind, name, holder),
    constraint source_claims_source_record_id_foreign foreign key (source_record_id) references sources (record_id) on delete cascade,
    constraint source_claims_user_id_foreign foreign key (user_id) references users (id) on delete cascade
  )`,
  `create index source_claims_source_record_id_index on source_claims (source_record_id)`,
  `create index source_claims_user_id_index on source_claims (user_id)`,
]

/** Sources, and what was installed from them. Released: never changed. */
export class M0005Sources extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
