import type { SchemaChange } from "./schema-change.ts"

/** Testing mode has a beginning and an end that take their time. Released: never changed. */
export const m0023TestingModes: SchemaChange = {
  name: "0023-testing-modes",
  sqlite: [
    `alter table ranges add column testing_mode text not null default 'off'`,
    `update ranges set testing_mode = 'on' where testing_enabled`,
    `alter table ranges drop column testing_enabled`,
  ],
  postgresql: [
    `alter table ranges add column testing_mode varchar(16) not null default 'off'`,
    `update ranges set testing_mode = 'on' where testing_enabled`,
    `alter table ranges drop column testing_enabled`,
  ],
}
