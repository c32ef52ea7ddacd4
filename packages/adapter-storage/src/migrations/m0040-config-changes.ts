import type { SchemaChange } from "./schema-change.ts"

/** Who changed the configurations of ranges and blueprints last. Released: never changed. */
export const m0040ConfigChanges: SchemaChange = {
  name: "0040-config-changes",
  sqlite: [
    `alter table range_configs add column updated_by text null`,
    `alter table blueprints add column config_by text null`,
    `alter table blueprints add column config_at bigint null`,
  ],
  postgresql: [
    `alter table range_configs add column updated_by varchar(255) null`,
    `alter table blueprints add column config_by varchar(255) null`,
    `alter table blueprints add column config_at bigint null`,
  ],
}
