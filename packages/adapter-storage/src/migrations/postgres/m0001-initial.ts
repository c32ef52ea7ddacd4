import { Migration } from "@mikro-orm/migrations"

const statements: readonly string[] = [
  `create table audit_entries (
    id serial primary key,
    at bigint not null,
    request_id text not null,
    caller_id varchar(255) null,
    acting_as varchar(255) null,
    operation text not null,
    range_id varchar(255) null,
    detail text not null,
    outcome text not null,
    remote text not null
  )`,
  `create index audit_entries_at_index on audit_entries (at)`,
  `create table departed_machines (
    vmid int not null,
    at bigint not null,
    primary key (vmid)
  )`,
  `create table machines (
    vmid int not null,
    node text not null,
    name text null,
    power varchar(16) not null,
    template boolean not null,
    pool text null,
    cpus double precision not null,
    memory_mib double precision not null,
    tags text not null,
    address text null,
    recorded_at bigint not null,
    primary key (vmid)
  )`,
  `create index machines_pool_index on machines (pool)`,
  `create table observation (
    id int not null,
    observed_at bigint null,
    cluster text null,
    away_since bigint null,
    away_reason text null,
    primary key (id)
  )`,
  `create table resting_user_numbers (
    number int not null,
    since bigint not null,
    primary key (number)
  )`,
  `create table revision (
    id int not null,
    value bigint not null,
    primary key (id)
  )`,
  `create table users (
    id varchar(255) not null,
    record_id varchar(255) not null,
    number int not null,
    name text not null,
    email text not null,
    email_key varchar(1024) null,
    is_admin boolean not null,
    hypervisor_username varchar(255) not null,
    hypervisor_realm varchar(255) not null,
    default_range_id varchar(255) null,
    has_completed_onboarding boolean not null,
    created_at bigint not null,
    updated_at bigint not null,
    last_active_at bigint null,
    api_key_hash text null,
    sealed_password text null,
    token_key text not null,
    primary key (id)
  )`,
  `alter table users add constraint users_record_unique unique (record_id)`,
  `alter table users add constraint users_number_unique unique (number)`,
  `alter table users add constraint users_email_unique unique (email_key)`,
  `alter table users add constraint users_account_unique unique (hypervisor_username, hypervisor_realm)`,
  `create table ranges (
    id varchar(255) not null,
    record_id varchar(255) not null,
    number int not null,
    name text not null,
    description text not null,
    purpose text not null,
    state varchar(32) not null,
    testing_enabled boolean not null,
    allowed_domains text not null,
    allowed_ips text not null,
    last_deployment_at bigint null,
    last_active_at bigint null,
    auto_shutdown text null,
    created_by varchar(255) null,
    created_at bigint not null,
    updated_at bigint not null,
    version int not null,
    primary key (id)
  )`,
  `alter table ranges add constraint ranges_record_unique unique (record_id)`,
  `alter table ranges add constraint ranges_number_unique unique (number)`,
  `create table runs (
    id varchar(255) not null,
    kind varchar(32) not null,
    range_id varchar(255) not null,
    busy_range_id varchar(255) null,
    by_user varchar(255) not null,
    options text not null,
    started_at bigint not null,
    status varchar(16) not null,
    ended_at bigint null,
    last_seq int not null,
    cancel_requested boolean not null,
    generation int not null,
    lease_owner text null,
    lease_until bigint null,
    primary key (id)
  )`,
  `alter table runs add constraint runs_busy_range_unique unique (busy_range_id)`,
  `create index runs_range_index on runs (range_id, started_at)`,
  `create index runs_started_index on runs (started_at)`,
  `create table journal_entries (
    run_id varchar(255) not null,
    seq int not null,
    at bigint not null,
    event text not null,
    primary key (run_id, seq)
  )`,
  `create table range_grants (
    range_id varchar(255) not null,
    user_id varchar(255) not null,
    primary key (range_id, user_id)
  )`,
  `create table range_configs (
    range_id varchar(255) not null,
    content bytea not null,
    updated_at bigint not null,
    primary key (range_id)
  )`,
  `create table machine_stages (
    range_id varchar(255) not null,
    vmid int not null,
    step_key varchar(1024) not null,
    fingerprint text not null,
    primary key (range_id, vmid, step_key)
  )`,
  `create table vmid_reservations (
    range_id varchar(255) not null,
    machine varchar(1024) not null,
    vmid int not null,
    primary key (range_id, machine)
  )`,
  `alter table vmid_reservations add constraint vmid_reservations_vmid_unique unique (vmid)`,
  `alter table ranges add constraint ranges_created_by_foreign foreign key (created_by) references users (id) on delete set null`,
  `alter table runs add constraint runs_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade`,
  `alter table journal_entries add constraint journal_entries_run_id_foreign foreign key (run_id) references runs (id) on delete cascade`,
  `alter table range_grants add constraint range_grants_range_id_foreign foreign key (range_id) references ranges (id) on update cascade on delete cascade`,
  `alter table range_grants add constraint range_grants_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade`,
  `alter table range_configs add constraint range_configs_range_id_foreign foreign key (range_id) references ranges (id) on update cascade on delete cascade`,
  `alter table machine_stages add constraint machine_stages_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade`,
  `alter table vmid_reservations add constraint vmid_reservations_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade`,
  `insert into revision (id, value) values (1, 1)`,
  `insert into observation (id) values (1)`,
  `create function raise_revision() returns trigger language plpgsql as $$
    begin update revision set value = value + 1; return null; end $$`,
  `create trigger revision_ranges after insert or update or delete on ranges for each statement execute function raise_revision()`,
  `create trigger revision_machines after insert or update or delete on machines for each statement execute function raise_revision()`,
  `create trigger revision_range_grants after insert or update or delete on range_grants for each statement execute function raise_revision()`,
  `create trigger revision_range_configs after update on range_configs for each statement execute function raise_revision()`,
  `create trigger revision_away after update of away_since on observation for each row
    when (old.away_since is distinct from new.away_since) execute function raise_revision()`,
]

/** The first schema. Released: never changed; later ones are added beside it. */
export class M0001Initial extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement)
  }
}
