import type { SchemaChange } from "./schema-change.ts"

/** Runs may be about something else than a range. Released: never changed. */
export const m0007RunSubjects: SchemaChange = {
  name: "0007-run-subjects",
  /** SQLite cannot make a column optional: the table is built anew. Its journals keep referring to it by its name. */
  sqlite: [
    `create table runs_new (
    id text not null primary key,
    kind text not null,
    subject text not null,
    busy_subject text null,
    range_id text null,
    by_user text not null,
    options text not null,
    started_at bigint not null,
    status text not null,
    ended_at bigint null,
    last_seq integer not null,
    cancel_requested integer not null,
    generation integer not null,
    lease_owner text null,
    lease_until bigint null,
    constraint runs_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade
  )`,
    `insert into runs_new (id, kind, subject, busy_subject, range_id, by_user, options, started_at, status, ended_at, last_seq,
      cancel_requested, generation, lease_owner, lease_until)
    select id, kind, 'range:' || range_id, 'range:' || busy_range_id, range_id, by_user, options, started_at, status, ended_at, last_seq,
      cancel_requested, generation, lease_owner, lease_until from runs`,
    `drop table runs`,
    `alter table runs_new rename to runs`,
    `create index runs_range_index on runs (range_id)`,
    `create unique index runs_busy_subject_unique on runs (busy_subject)`,
    `create index runs_subject_index on runs (subject, started_at)`,
    `create index runs_started_index on runs (started_at)`,
  ],
  postgresql: [
    `alter table runs add column subject varchar(1024) null, add column busy_subject varchar(1024) null`,
    `update runs set subject = 'range:' || range_id, busy_subject = 'range:' || busy_range_id`,
    `alter table runs alter column subject set not null, alter column range_id drop not null`,
    `alter table runs drop constraint runs_busy_range_unique`,
    `alter table runs drop column busy_range_id`,
    `alter table runs add constraint runs_busy_subject_unique unique (busy_subject)`,
    `drop index runs_range_index`,
    `create index runs_range_index on runs (range_id)`,
    `create index runs_subject_index on runs (subject, started_at)`,
  ],
}
