import type { SchemaChange } from "./schema-change.ts"

/** Runs are counted by the time of their end. Released: never changed. */
export const m0047EndedRuns: SchemaChange = {
  name: "0047-ended-runs",
  both: [`create index runs_ended_index on runs (ended_at)`],
}
