import type { SchemaChange } from "./schema-change.ts"

/** Key pairs of users for the VPN; older users get theirs from the service. Released: never changed. */
export const m0027VpnKeys: SchemaChange = {
  name: "0027-vpn-keys",
  sqlite: [
    "create table vpn_keys (user_id text not null primary key, public_key text not null, sealed text not null, constraint vpn_keys_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade)",
    "create index vpn_keys_user_id_index on vpn_keys (user_id)",
    "create unique index vpn_keys_public_key_unique on vpn_keys (public_key)",
  ],
  postgresql: [
    "create table vpn_keys (user_id varchar(255) not null, public_key varchar(44) not null, sealed text not null, primary key (user_id))",
    "alter table vpn_keys add constraint vpn_keys_public_key_unique unique (public_key)",
    "alter table vpn_keys add constraint vpn_keys_user_id_foreign foreign key (user_id) references users (id) on update cascade on delete cascade",
  ],
}
