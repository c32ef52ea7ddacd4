import type { SchemaChange } from "./schema-change.ts"

/** Pictures of blueprints. Released: never changed. */
export const m0004Thumbnails: SchemaChange = {
  name: "0004-thumbnails",
  sqlite: [
    `create table blueprint_thumbnails (
    blueprint_id text not null primary key,
    name text not null,
    type text not null,
    content blob not null,
    constraint blueprint_thumbnails_blueprint_id_foreign foreign key (blueprint_id) references blueprints (id) on update cascade on delete cascade
  )`,
    `create index blueprint_thumbnails_blueprint_id_index on blueprint_thumbnails (blueprint_id)`,
  ],
  postgresql: [
    `create table blueprint_thumbnails (
    blueprint_id varchar(255) not null,
    name text not null,
    type varchar(32) not null,
    content bytea not null,
    primary key (blueprint_id)
  )`,
    `alter table blueprint_thumbnails add constraint blueprint_thumbnails_blueprint_id_foreign foreign key (blueprint_id) references blueprints (id) on update cascade on delete cascade`,
  ],
}
