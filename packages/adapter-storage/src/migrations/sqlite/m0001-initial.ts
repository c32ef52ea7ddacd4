import { Migration } from "@mikro-orm/migrations"

const statements: readonly string[] = [
  `create table audit_entries (
    id integer not null primary key autoincrement,
    at bigint not null,
    request_id text not null,
    caller_id text null,
    acting_as text null,
    operation text not null,
    range_id text null,
    detail text not null,
    outcome text not null,
    remote text not null
  )`,
  `create index audit_entries_at_index on audit_entries (at)`,
  `create table departed_machines (
    vmid integer not null primary key,
    at bigint not null
  )`,
  `create table machines (
    vmid integer not null primary key,
    node text not null,
    name text null,
    power text not null,
    template integer not null,
    pool text null,
    cpus double not null,
    memory_mib double not null,
    tags text not null,
    address text null,
    recorded_at bigint not null
  )`,
  `create index machines_pool_index on machines (pool)`,
  `create table observation (
    id integer not null primary key,
    observed_at bigint null,
    cluster text null,
    away_since bigint null,
    away_reason text null
  )`,
  `create table resting_user_numbers (
    number integer not null primary key,
    since bigint not null
  )`,
  `create table revision (
    id integer not null primary key,
    value bigint not null
  )`,
  `create table users (
    id text not null primary key,
    record_id text not null,
    number integer not null,
    name text not null,
    email text not null,
    email_key text null,
    is_admin integer not null,
    hypervisor_username text not null,
    hypervisor_realm text not null,
    default_range_id text null,
    has_completed_onboarding integer not null,
    created_at bigint not null,
    updated_at bigint not null,
    last_active_at bigint null,
    api_key_hash text null,
    sealed_password text null,
    token_key text not null
  )`,
  `create unique index users_record_unique on users (record_id)`,
  `create unique index users_number_unique on users (number)`,
  `create unique index users_email_unique on users (email_key)`,
  `create unique index users_account_unique on users (hypervisor_username, hypervisor_realm)`,
  `create table ranges (
    id text not null primary key,
    record_id text not null,
    number integer not null,
    name text not null,
    description text not null,
    purpose text not null,
    state text not null,
    testing_enabled integer not null,
    allowed_domains text not null,
    allowed_ips text not null,
    last_deployment_at bigint null,
    last_active_at bigint null,
    auto_shutdown text null,
    created_by text null,
    created_at bigint not null,
    updated_at bigint not null,
    version integer not null,
    constraint ranges_created_by_foreign foreign key (created_by) references users (id) on delete set null
  )`,
  `create unique index ranges_record_unique on ranges (record_id)`,
  `create unique index ranges_number_unique on ranges (number)`,
  `create index ranges_created_by_index on ranges (created_by)`,
  `create table runs (
    id text not null primary key,
    kind text not null,
    range_id text not null,
    busy_range_id text null,
    by_user text not null,
    options text not null,
    started_at bigint not null,
    status text not null,
    ended_at bigint null,
    last_seq integer not null,
    cancel_requested integer not null,
    generation integer not null,
    lease_owner text null,
    lease_until bigint null,
    constraint runs_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade
  )`,
  `create index runs_range_id_index on runs (range_id)`,
  `create unique index runs_busy_range_unique on runs (busy_range_id)`,
  `create index runs_range_index on runs (range_id, started_at)`,
  `create index runs_started_index on runs (started_at)`,
  `create table journal_entries (
    run_id text not null,
    seq integer not null,
    at bigint not null,
    event text not null,
    primary key (run_id, seq),
    constraint journal_entries_run_id_foreign foreign key (run_id) references runs (id) on delete cascade
  )`,
  `create index journal_entries_run_id_index on journal_entries (run_id)`,
  `create table range_grants (
    range_id text not null,
    user_id text not null,
    primary key (range_id, user_id),
    constraint range_grants_range_id_foreign foreign key (range_id) references ranges (id) on update cascade on delete cascade,
    constraint range_grants_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade
  )`,
  `create index range_grants_range_id_index on range_grants (range_id)`,
  `create index range_grants_user_id_index on range_grants (user_id)`,
  `create table range_configs (
    range_id text not null primary key,
    content blob not null,
    updated_at bigint not null,
    constraint range_configs_range_id_foreign foreign key (range_id) references ranges (id) on update cascade on delete cascade
  )`,
  `create index range_configs_range_id_index on range_configs (range_id)`,
  `create table machine_stages (
    range_id text not null,
    vmid integer not null,
    step_key text not null,
    fingerprint text not null,
    primary key (range_id, vmid, step_key),
    constraint machine_stages_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade
  )`,
  `create index machine_stages_range_id_index on machine_stages (range_id)`,
  `create table vmid_reservations (
    range_id text not null,
    machine text not null,
    vmid integer not null,
    primary key (range_id, machine),
    constraint vmid_reservations_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade
  )`,
  `create index vmid_reservations_range_id_index on vmid_reservations (range_id)`,
  `create unique index vmid_reservations_vmid_unique on vmid_reservations (vmid)`,
  `insert into revision (id, value) values (1, 1)`,
  `insert into observation (id) values (1)`,
  `create trigger revision_ranges_insert after insert on ranges begin update revision set value = value + 1; end`,
  `create trigger revision_ranges_update after update on ranges begin update revision set value = value + 1; end`,
  `create trigger revision_ranges_delete after delete on ranges begin update revision set value = value + 1; end`,
  `create trigger revision_machines_insert after insert on machines begin update revision set value = value + 1; end`,
  `create trigger revision_machines_update after update on machines begin update revision set value = value + 1; end`,
  `create trigger revision_machines_delete after delete on machines begin update revision set value = value + 1; end`,
  `create trigger revision_range_grants_insert after insert on range_grants begin update revision set value = value + 1; end`,
  `create trigger revision_range_grants_delete after delete on range_grants begin update revision set value = value + 1; end`,
  `create trigger revision_range_configs_update after update on range_configs begin update revision set value = value + 1; end`,
  `create trigger revision_away after update of away_since on observation when old.away_since is not new.away_since
    begin update revision set value = value + 1; end`,
]

/** The first schema. Released: never changed; later ones are added beside it. */
export class M0001Initial extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
