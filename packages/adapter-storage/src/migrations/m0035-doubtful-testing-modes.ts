import type { SchemaChange } from "./schema-change.ts"

/**
 * Testing mode is on only where a run has verified it: what an older version recorded is in doubt, so it is closed until a start has loaded
 * its rules.
 */
const statements = [
  `update ranges set testing_mode = 'entering' where testing_mode = 'on' and not exists (
    select 1 from runs where runs.range_id = ranges.id and runs.kind in ('testing-start', 'testing-change') and runs.status in ('success', 'partial'))`,
]

/** Released: never changed. */
export const m0035DoubtfulTestingModes: SchemaChange = {
  name: "0035-doubtful-testing-modes",
  sqlite: statements,
  postgresql: statements,
}
