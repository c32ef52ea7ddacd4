import type { SchemaChange } from "./schema-change.ts"

/** The count of a range's writes, which nothing read. Released: never changed. */
export const m0025RangesWithoutVersion: SchemaChange = {
  name: "0025-ranges-without-version",
  both: ["alter table ranges drop column version"],
}
