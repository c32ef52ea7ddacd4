import type { SchemaChange } from "./schema-change.ts"

/** Pictures of ranges. Released: never changed. */
export const m0046RangeThumbnails: SchemaChange = {
  name: "0046-range-thumbnails",
  sqlite: [
    `alter table ranges add column thumbnail text null`,
    `create table range_thumbnails (
    range_id text not null primary key,
    type text not null,
    content blob not null,
    constraint range_thumbnails_range_id_foreign foreign key (range_id) references ranges (id) on update cascade on delete cascade
  )`,
  ],
  postgresql: [
    `alter table ranges add column thumbnail text null`,
    `create table range_thumbnails (
    range_id varchar(255) not null,
    type varchar(32) not null,
    content bytea not null,
    primary key (range_id)
  )`,
    `alter table range_thumbnails add constraint range_thumbnails_range_id_foreign foreign key (range_id) references ranges (id) on update cascade on delete cascade`,
  ],
}
