import type { SchemaChange } from "./schema-change.ts"

/** What SQLite copies into the table that it builds anew. */
const old = "id, record_id, owner, name, description, version, tags, min_version, created_at, updated_at, config"

/** Where blueprints came from, their files, what they require and how its installation went. Released: never changed. */
export const m0006BlueprintSources: SchemaChange = {
  name: "0006-blueprint-sources",
  // built anew, so that lists still need not read past the configurations
  sqlite: [
    `create table blueprints_new (
    id text not null primary key,
    record_id text not null,
    owner text null,
    name text not null,
    description text not null,
    version text not null,
    tags text not null,
    min_version text not null,
    source text null,
    source_blueprint_id text null,
    bundle_snapshot text null,
    bundle_directory text null,
    install_status text null,
    install_error text null,
    installed_at bigint null,
    created_at bigint not null,
    updated_at bigint not null,
    requirements text null,
    config text not null,
    constraint blueprints_owner_foreign foreign key (owner) references users (id) on delete set null
  )`,
    `insert into blueprints_new (${old}) select ${old} from blueprints`,
    `drop table blueprints`,
    `alter table blueprints_new rename to blueprints`,
    `create unique index blueprints_record_unique on blueprints (record_id)`,
    `create index blueprints_owner_index on blueprints (owner)`,
    `create unique index blueprints_origin_unique on blueprints (source, source_blueprint_id)`,
  ],
  postgresql: [
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
  ],
}
