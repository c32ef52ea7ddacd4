import type { SchemaChange } from "./schema-change.ts"

/** Ranges know whether an older service made them. Released: never changed. */
export const m0010TakenOverRanges: SchemaChange = {
  name: "0010-taken-over-ranges",
  sqlite: [`alter table ranges add column taken_over integer not null default false`],
  postgresql: [`alter table ranges add column taken_over boolean not null default false`],
}
