import type { SchemaChange } from "./schema-change.ts"

/** Ranges keep the configuration of their newest deploy. Released: never changed. */
export const m0016DeployedConfigs: SchemaChange = {
  name: "0016-deployed-configs",
  sqlite: [
    `alter table range_configs add column deployed blob null`,
    // what was uploaded last is the best that is known of what was deployed
    `update range_configs set deployed = content
    where range_id in (select id from ranges where last_deployment_at is not null or taken_over)`,
  ],
  postgresql: [
    `alter table range_configs add column deployed bytea null`,
    // what was uploaded last is the best that is known of what was deployed
    `update range_configs set deployed = content
    where range_id in (select id from ranges where last_deployment_at is not null or taken_over)`,
  ],
}
