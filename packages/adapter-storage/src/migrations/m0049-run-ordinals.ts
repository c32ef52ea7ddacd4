import type { SchemaChange } from "./schema-change.ts"

/** Older runs in the order of their clocks, by which they were listed so far. */
const numberRuns = `update runs set ordinal = numbered.n
    from (select id, row_number() over (order by started_at, id) as n from runs) as numbered where numbered.id = runs.id`

/** Runs are ordered by their opening, also when the clock was set back between them. Released: never changed. */
export const m0049RunOrdinals: SchemaChange = {
  name: "0049-run-ordinals",
  sqlite: [
    `alter table runs add column ordinal integer not null default 0`,
    numberRuns,
    `create unique index runs_ordinal_unique on runs (ordinal)`,
    `drop index runs_subject_index`,
    `create index runs_subject_index on runs (subject, ordinal)`,
  ],
  postgresql: [
    `alter table runs add column ordinal int not null default 0`,
    numberRuns,
    `alter table runs add constraint runs_ordinal_unique unique (ordinal)`,
    `drop index runs_subject_index`,
    `create index runs_subject_index on runs (subject, ordinal)`,
    // instances of an older version, which do not know the column, may still be at work
    `create function number_run() returns trigger language plpgsql as $$
    begin select coalesce(max(ordinal), 0) + 1 into new.ordinal from runs; return new; end $$`,
    `create trigger runs_number before insert on runs for each row when (new.ordinal = 0) execute function number_run()`,
  ],
}
