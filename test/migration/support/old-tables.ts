/** The tables of a first generation's database. */
export const oldTables = `
  create table user_objects (name text, user_id text, date_created datetime, date_last_active datetime, is_admin numeric,
    hashed_api_key text, proxmox_username text, portforwarding_enabled numeric);
  create table range_objects (user_id text, range_number integer, last_deployment datetime, number_of_vms integer,
    testing_enabled numeric, allowed_domains text, allowed_ips text, range_state text);
  create table vm_objects (id integer, proxmox_id integer, range_number integer, name text, powered_on numeric, ip text);
  create table range_access_objects (target_user_id text, source_user_ids text);
`
