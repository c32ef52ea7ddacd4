import { Migration } from "@mikro-orm/migrations"

const statements: readonly string[] = [
  `alter table blueprints
    add column source varchar(255) null,
    add column source_blueprint_id varchar(255) null,
    add column bundle_snapshot text null,
    add column bundle_directory text null,
    add column install_status varchar(16) null,
    add column install_error text null,
    add column installed_at bigint null,
    add column requirements text null`,
  `alter table blueprints add constraint blueprints_origin_unique unique (source, source_blueprint_id)`,
]

/** Where blueprints came from, their files, what they require and how its installation went. Released: never changed. */
export class M0006BlueprintSources extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
