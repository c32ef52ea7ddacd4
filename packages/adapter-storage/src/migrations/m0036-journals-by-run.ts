import type { SchemaChange } from "./schema-change.ts"

/**
 * Journal entries are stored by run and number, without a second index: SQLite wrote five pages for each, now two. PostgreSQL never had
 * that index.
 */
export const m0036JournalsByRun: SchemaChange = {
  name: "0036-journals-by-run",
  sqlite: [
    `create table journal_entries_new (
    run_id text not null,
    seq integer not null,
    at bigint not null,
    event text not null,
    primary key (run_id, seq),
    constraint journal_entries_run_id_foreign foreign key (run_id) references runs (id) on delete cascade
  ) without rowid`,
    `insert into journal_entries_new (run_id, seq, at, event) select run_id, seq, at, event from journal_entries order by run_id, seq`,
    `drop table journal_entries`,
    `alter table journal_entries_new rename to journal_entries`,
  ],
  postgresql: [],
}
