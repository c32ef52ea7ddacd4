import { Migration } from "@mikro-orm/migrations"

const statements: readonly string[] = [
  `create table blueprint_thumbnails (
    blueprint_id varchar(255) not null,
    name text not null,
    type varchar(32) not null,
    content bytea not null,
    primary key (blueprint_id)
  )`,
  `alter table blueprint_thumbnails add constraint blueprint_thumbnails_blueprint_id_foreign foreign key (blueprint_id) references blueprints (id) on update cascade on delete cascade`,
]

/** Pictures of blueprints. Released: never changed. */
export class M0004Thumbnails extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
