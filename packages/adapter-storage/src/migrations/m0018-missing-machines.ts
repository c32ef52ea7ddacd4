import type { SchemaChange } from "./schema-change.ts"

/** Machines that a list lacks stay, and lists may be in doubt. Released: never changed. */
export const m0018MissingMachines: SchemaChange = {
  name: "0018-missing-machines",
  both: [
    `alter table machines add column missing_since bigint null`,
    `alter table observation add column doubt_since bigint null`,
    `alter table observation add column doubt_reason text null`,
  ],
}
