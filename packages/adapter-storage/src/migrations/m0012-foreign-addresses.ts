import type { SchemaChange } from "./schema-change.ts"

/** Machines have the addresses that their guests claim and that belong to others. Released: never changed. */
export const m0012ForeignAddresses: SchemaChange = {
  name: "0012-foreign-addresses",
  both: [`alter table machines add column foreign_addresses text not null default '[]'`],
}
