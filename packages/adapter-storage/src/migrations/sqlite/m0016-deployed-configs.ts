import { Migration } from "@mikro-orm/migrations"

const statements = [
  `alter table range_configs add column deployed blob null`,
  // what was uploaded last is the best that is known of what was deployed
  `update range_configs set deployed = content
    where range_id in (select id from ranges where last_deployment_at is not null or taken_over)`,
]

/** Ranges keep the configuration of their newest deploy. Released: never changed. */
export class M0016DeployedConfigs extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
