import type { SchemaChange } from "./schema-change.ts"

/** Runs of ranges may wait for a run of the installation. Released: never changed. */
export const m0009WaitingRuns: SchemaChange = {
  name: "0009-waiting-runs",
  sqlite: [`alter table runs add column behind text null`],
  postgresql: [`alter table runs add column behind varchar(255) null`],
}
