import type { SchemaChange } from "./schema-change.ts"

/** What machines of a range are to be taken for. Released: never changed. */
export const m0032Disguises: SchemaChange = {
  name: "0032-disguises",
  both: ["alter table ranges add column disguises text null"],
}
