import type { SchemaChange } from "./schema-change.ts"

/** Browsers in which users are signed in. Released: never changed. */
export const m0033Sessions: SchemaChange = {
  name: "0033-sessions",
  sqlite: [
    "create table sessions (hash text not null primary key, id text not null, user_id text not null, created_at bigint not null, last_seen_at bigint not null, remote text not null, agent text not null, constraint sessions_user_id_foreign foreign key (user_id) references users (id) on delete cascade)",
    "create unique index sessions_id_unique on sessions (id)",
    "create index sessions_user_id_index on sessions (user_id)",
  ],
  postgresql: [
    "create table sessions (hash varchar(64) not null, id varchar(255) not null, user_id varchar(255) not null, created_at bigint not null, last_seen_at bigint not null, remote text not null, agent text not null, primary key (hash))",
    "alter table sessions add constraint sessions_id_unique unique (id)",
    "alter table sessions add constraint sessions_user_id_foreign foreign key (user_id) references users (id) on delete cascade",
  ],
}
