import { HeldVpnJson, type VpnKey } from "@rangewright/domain"
import { declared, json, key, named, reference, short, text, unique, whole } from "../schema/column.ts"
import { userId } from "../schema/ids.ts"
import { type StoredRow, table } from "../schema/table.ts"
import { users } from "./user.ts"

/** Key pairs of users; the private key is sealed. */
export const vpnKeys = table("vpn_keys", {
  userId: key(reference(() => users.entity, userId)),
  publicKey: unique("vpn_keys_public_key_unique", short(44)),
  sealed: text,
})

/** Peers of the VPN server, including possible ones; one row. */
export const vpnServers = table("vpn_server", {
  id: key(declared(whole, { autoincrement: false })),
  version: whole,
  held: named("record", json(HeldVpnJson)),
})

export const toVpnKey: (row: StoredRow) => VpnKey = vpnKeys.reader({ only: ["publicKey", "sealed"] })
