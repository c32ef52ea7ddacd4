import * as Schema from "effect/Schema"
import type { RangeId, Vmid } from "../access/ids.ts"
import type { AccessChange, AccountId, HeldAccess } from "./model.ts"

const rangeId = Schema.String as unknown as Schema.Codec<RangeId, string>
const account = Schema.String as unknown as Schema.Codec<AccountId, string>
const names = Schema.Array(Schema.String)
const keep = Schema.Struct({
  groups: names,
  rights: Schema.Array(Schema.Struct({ path: Schema.String, role: Schema.String, propagate: Schema.Boolean })),
})
const vnet = Schema.Struct({ type: Schema.Literal("vnet"), zone: Schema.String, name: Schema.String })
const vmid = Schema.Int as unknown as Schema.Codec<Vmid, number>
const place = Schema.Union([
  Schema.Struct({ type: Schema.Literal("pool"), rangeId }),
  vnet,
  Schema.Struct({ type: Schema.Literal("machine"), rangeId, vmid }),
])
const subject = Schema.Struct({
  type: Schema.Literals(["user", "group", "token"]),
  name: Schema.String,
  roles: Schema.optionalKey(names),
})

const kind = <const K extends string>(name: K) => Schema.Literal(name)
const withGroups = { account, groups: names }

/** A change as stored in the journal. */
export const AccessChangeJson = Schema.Union([
  Schema.Struct({ kind: kind("revoke"), place, subjects: Schema.Array(subject) }),
  Schema.Struct({ kind: kind("leave-groups"), ...withGroups }),
  Schema.Struct({ kind: kind("remove-account"), account }),
  Schema.Struct({ kind: kind("remove-group"), group: Schema.String }),
  Schema.Struct({ kind: kind("remove-pool"), rangeId }),
  Schema.Struct({ kind: kind("create-group"), group: Schema.String }),
  Schema.Struct({ kind: kind("create-account"), ...withGroups, keep }),
  Schema.Struct({ kind: kind("join-groups"), ...withGroups }),
  Schema.Struct({ kind: kind("set-password"), ...withGroups, keep }),
  Schema.Struct({ kind: kind("restore"), account, keep }),
  Schema.Struct({ kind: kind("create-pool"), rangeId }),
  Schema.Struct({ kind: kind("grant"), place, groups: names }),
]) satisfies Schema.Codec<AccessChange, unknown>

/** The held state as stored. */
export const HeldAccessJson = Schema.Struct({
  accounts: Schema.Record(
    Schema.String,
    Schema.Struct({ admin: Schema.Boolean, password: Schema.NullOr(Schema.String), keep: Schema.optionalKey(keep) }),
  ),
  ranges: Schema.Record(Schema.String, Schema.Array(account)),
  vnets: Schema.Array(vnet),
  unsettled: Schema.optionalKey(Schema.Literal(true)),
  notes: Schema.optionalKey(names),
}) satisfies Schema.Codec<HeldAccess, unknown>
