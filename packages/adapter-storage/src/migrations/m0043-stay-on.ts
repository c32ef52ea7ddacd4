import type { SchemaChange } from "./schema-change.ts"

/** Ranges know until when somebody wants them on. Released: never changed. */
export const m0043StayOn: SchemaChange = {
  name: "0043-stay-on",
  sqlite: ["alter table ranges add column stay_on_until bigint null"],
  postgresql: ["alter table ranges add column stay_on_until bigint null"],
}
