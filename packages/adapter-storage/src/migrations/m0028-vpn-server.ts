import type { SchemaChange } from "./schema-change.ts"

/** Whom the VPN's server lets in, or may. Released: never changed. */
export const m0028VpnServer: SchemaChange = {
  name: "0028-vpn-server",
  sqlite: ["create table vpn_server (id integer not null primary key, version integer not null, record text not null)"],
  postgresql: ["create table vpn_server (id int not null, version int not null, record text not null, primary key (id))"],
}
