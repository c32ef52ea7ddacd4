import type { SchemaChange } from "./schema-change.ts"

const rebuild = (table: string, columns: string): readonly string[] => [
  `create table ${table}_new (${columns}) without rowid`,
  `insert into ${table}_new select * from ${table}`,
  `drop table ${table}`,
  `alter table ${table}_new rename to ${table}`,
]

/** Tables whose key begins with the range, beside an index of the range. PostgreSQL never had it. */
const indexedTwice = [
  "machine_debts",
  "machine_logins",
  "machine_snapshots",
  "range_configs",
  "range_grants",
  "router_inspections",
  "snapshot_stages",
]

/**
 * Small rows that each deploy writes lie by their key: SQLite wrote three pages for each, now one. Released: never changed.
 */
export const m0044FewerPages: SchemaChange = {
  name: "0044-fewer-pages",
  sqlite: [
    ...rebuild(
      "machine_stages",
      `range_id text not null,
    vmid integer not null,
    step_key text not null,
    fingerprint text not null,
    primary key (range_id, vmid, step_key),
    constraint machine_stages_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade`,
    ),
    ...rebuild(
      "machine_systems",
      `range_id text not null,
    vmid integer not null,
    system text not null,
    primary key (range_id, vmid),
    constraint machine_systems_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade`,
    ),
    ...rebuild(
      "told_routers",
      `range_id text not null primary key,
    users text not null,
    constraint told_routers_range_id_foreign foreign key (range_id) references ranges (id) on update cascade on delete cascade`,
    ),
    ...rebuild(
      "vmid_reservations",
      `range_id text not null,
    machine text not null,
    vmid integer not null,
    primary key (range_id, machine),
    constraint vmid_reservations_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade`,
    ),
    "create unique index vmid_reservations_vmid_unique on vmid_reservations (vmid)",
    ...indexedTwice.map((table) => `drop index ${table}_range_id_index`),
  ],
  postgresql: [],
}
