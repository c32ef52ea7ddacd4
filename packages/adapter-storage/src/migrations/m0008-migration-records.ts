import type { SchemaChange } from "./schema-change.ts"

/** What an installation was like before its networks moved. Released: never changed. */
export const m0008MigrationRecords: SchemaChange = {
  name: "0008-migration-records",
  sqlite: [
    `create table migration_records (
    id text not null primary key,
    record text not null
  )`,
  ],
  postgresql: [
    `create table migration_records (
    id varchar(255) not null,
    record text not null,
    primary key (id)
  )`,
  ],
}
