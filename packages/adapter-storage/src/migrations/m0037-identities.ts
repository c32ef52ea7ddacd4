import type { SchemaChange } from "./schema-change.ts"

/** People at an identity provider who sign in as users, and sign-ins that must not be repeated. Released: never changed. */
export const m0037Identities: SchemaChange = {
  name: "0037-identities",
  sqlite: [
    "create table spent_sign_ins (hash text not null primary key, expires_at bigint not null)",
    "create table identities (issuer text not null, subject text not null, user_id text not null, created_at bigint not null, primary key (issuer, subject), constraint identities_user_id_foreign foreign key (user_id) references users (id) on delete cascade)",
    "create unique index identities_user_unique on identities (user_id, issuer)",
  ],
  postgresql: [
    "create table spent_sign_ins (hash varchar(64) not null, expires_at bigint not null, primary key (hash))",
    "create table identities (issuer varchar(512) not null, subject varchar(255) not null, user_id varchar(255) not null, created_at bigint not null, primary key (issuer, subject))",
    "alter table identities add constraint identities_user_unique unique (user_id, issuer)",
    "alter table identities add constraint identities_user_id_foreign foreign key (user_id) references users (id) on delete cascade",
  ],
}
