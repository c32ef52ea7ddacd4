import type { SchemaChange } from "./schema-change.ts"

/** Who has what of scarce things, where several instances share a database. Released: never changed. */
export const m0021SlotLedgers: SchemaChange = {
  name: "0021-slot-ledgers",
  sqlite: [
    `create table slot_ledgers (
    resource text not null primary key,
    ledger text not null
  )`,
  ],
  postgresql: [
    `create table slot_ledgers (
    resource varchar(255) not null,
    ledger text not null,
    primary key (resource)
  )`,
  ],
}
