import { Migration } from "@mikro-orm/migrations"

const statements: readonly string[] = [
  `create table blueprint_thumbnails (
    blueprint_id text not null primary key,
    name text not null,
    type text not null,
    content blob not null,
    constraint blueprint_thumbnails_blueprint_id_foreign foreign key (blueprint_id) references blueprints (id) on update cascade on delete cascade
  )`,
  `create index blueprint_thumbnails_blueprint_id_index on blueprint_thumbnails (blueprint_id)`,
]

/** Pictures of blueprints. Released: never changed. */
export class M0004Thumbnails extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
