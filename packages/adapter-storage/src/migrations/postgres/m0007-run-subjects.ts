import { Migration } from "@mikro-orm/migrations"

const statements: readonly string[] = [
  `alter table runs add column subject varchar(1024) null, add column busy_subject varchar(1024) null`,
  `update runs set subject = 'range:' || range_id, busy_subject = 'range:' || busy_range_id`,
  `alter table runs alter column subject set not null, alter column range_id drop not null`,
  `alter table runs drop constraint runs_busy_range_unique`,
  `alter table runs drop column busy_range_id`,
  `alter table runs add constraint runs_busy_subject_unique unique (busy_subject)`,
  `drop index runs_range_index`,
  `create index runs_range_index on runs (range_id)`,
  `create index runs_subject_index on runs (subject, started_at)`,
]

/** Runs may be about something else than a range. Released: never changed. */
export class M0007RunSubjects extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
