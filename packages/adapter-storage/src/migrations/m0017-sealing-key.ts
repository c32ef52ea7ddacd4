import type { SchemaChange } from "./schema-change.ts"

/** The database knows the key that seals its secrets. Released: never changed. */
export const m0017SealingKey: SchemaChange = {
  name: "0017-sealing-key",
  sqlite: [
    `create table sealing_key (
    id integer not null primary key,
    key_id text not null,
    sealed_hash_key text not null,
    sealed_root_key text null
  )`,
  ],
  postgresql: [
    `create table sealing_key (
    id int not null,
    key_id varchar(16) not null,
    sealed_hash_key text not null,
    sealed_root_key text null,
    primary key (id)
  )`,
  ],
}
