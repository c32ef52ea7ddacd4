import type { SchemaChange } from "./schema-change.ts"

/** Further API keys of users, which expire and may do less. Released: never changed. */
export const m0034ScopedKeys: SchemaChange = {
  name: "0034-scoped-keys",
  sqlite: [
    "create table scoped_keys (id text not null primary key, user_id text not null, name text not null, hash text not null, range_id text null, created_at bigint not null, expires_at bigint not null, constraint scoped_keys_user_id_foreign foreign key (user_id) references users (id) on delete cascade, constraint scoped_keys_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade)",
    "create index scoped_keys_user_id_index on scoped_keys (user_id)",
    "create index scoped_keys_range_id_index on scoped_keys (range_id)",
  ],
  postgresql: [
    "create table scoped_keys (id varchar(12) not null, user_id varchar(255) not null, name text not null, hash varchar(64) not null, range_id varchar(255) null, created_at bigint not null, expires_at bigint not null, primary key (id))",
    "alter table scoped_keys add constraint scoped_keys_user_id_foreign foreign key (user_id) references users (id) on delete cascade",
    "alter table scoped_keys add constraint scoped_keys_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade",
  ],
}
