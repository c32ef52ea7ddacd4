import type { SchemaChange } from "./schema-change.ts"

/** The last inspection of each range's router. Released: never changed. */
export const m0030RouterInspections: SchemaChange = {
  name: "0030-router-inspections",
  sqlite: [
    "create table router_inspections (range_id text not null primary key, at bigint not null, found text not null, constraint router_inspections_range_id_foreign foreign key (range_id) references ranges (id) on update cascade on delete cascade)",
    "create index router_inspections_range_id_index on router_inspections (range_id)",
  ],
  postgresql: [
    "create table router_inspections (range_id varchar(255) not null, at bigint not null, found text not null, primary key (range_id))",
    "alter table router_inspections add constraint router_inspections_range_id_foreign foreign key (range_id) references ranges (id) on update cascade on delete cascade",
  ],
}
