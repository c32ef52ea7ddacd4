import type { SchemaChange } from "./schema-change.ts"

/** Snapshots of machines as they were last read, and which stages had succeeded when they were taken. Released: never changed. */
export const m0022MachineSnapshots: SchemaChange = {
  name: "0022-machine-snapshots",
  sqlite: [
    `create table snapshot_stages (
    range_id text not null,
    vmid integer not null,
    snapshot text not null,
    taken_at bigint not null,
    step_key text not null,
    fingerprint text not null,
    primary key (range_id, vmid, snapshot, taken_at, step_key),
    constraint snapshot_stages_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade
  )`,
    `create index snapshot_stages_range_id_index on snapshot_stages (range_id)`,
    `create table machine_snapshots (
    range_id text not null,
    vmid integer not null,
    read_at bigint not null,
    snapshots text not null,
    current text null,
    primary key (range_id, vmid),
    constraint machine_snapshots_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade
  )`,
    `create index machine_snapshots_range_id_index on machine_snapshots (range_id)`,
  ],
  postgresql: [
    `create table snapshot_stages (
    range_id varchar(255) not null,
    vmid int not null,
    snapshot varchar(64) not null,
    taken_at bigint not null,
    step_key varchar(1024) not null,
    fingerprint text not null,
    primary key (range_id, vmid, snapshot, taken_at, step_key)
  )`,
    `create table machine_snapshots (
    range_id varchar(255) not null,
    vmid int not null,
    read_at bigint not null,
    snapshots text not null,
    current text null,
    primary key (range_id, vmid)
  )`,
    `alter table snapshot_stages add constraint snapshot_stages_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade`,
    `alter table machine_snapshots add constraint machine_snapshots_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade`,
  ],
}
