import type { SchemaChange } from "./schema-change.ts"

/** How long the work of runs takes. Released: never changed. */
export const m0048StepDurations: SchemaChange = {
  name: "0048-step-durations",
  sqlite: [
    `create table step_durations (
    owner text not null,
    name text not null,
    seconds double not null,
    count integer not null,
    learned_at bigint not null,
    primary key (owner, name)
  )`,
  ],
  postgresql: [
    `create table step_durations (
    owner varchar(255) not null,
    name text not null,
    seconds double precision not null,
    count int not null,
    learned_at bigint not null,
    primary key (owner, name)
  )`,
  ],
}
