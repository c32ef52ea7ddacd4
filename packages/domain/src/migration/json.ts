import * as Schema from "effect/Schema"
import type { RangeId, Vmid } from "../access/ids.ts"
import type { MigrationAction } from "./action.ts"
import { HardwareJson } from "../plan/plan-json.ts"
import type { MigrationRecord } from "./installation.ts"

/** Records and actions as JSON, for stores and journals. Decoding gives exactly what was written, or fails. */

const rangeId = Schema.String as unknown as Schema.Codec<RangeId, string>
const vmid = Schema.Int as unknown as Schema.Codec<Vmid, number>
const names = Schema.Array(Schema.String)

const nic = Schema.Struct({ nic: Schema.String, text: Schema.String })

const bridge = Schema.Struct({
  node: Schema.String,
  name: Schema.String,
  ports: names,
  address: Schema.optional(Schema.String),
  settings: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])),
})

export const MigrationRecordJson = Schema.Struct({
  version: Schema.Literal(1),
  zone: Schema.String,
  natBridge: Schema.optional(Schema.String),
  natVnet: Schema.optional(Schema.String),
  madeZone: Schema.Boolean,
  madeVnets: names,
  bridges: Schema.Array(bridge),
  machines: Schema.Array(
    Schema.Struct({
      vmid,
      name: Schema.String,
      node: Schema.String,
      range: Schema.optional(rangeId),
      nics: Schema.Array(nic),
    }),
  ),
}) satisfies Schema.Codec<MigrationRecord, unknown>

const mark = Schema.Struct({
  range: rangeId,
  machine: Schema.String,
  template: Schema.optional(Schema.String),
  adopted: Schema.optional(Schema.Boolean),
  undisguised: Schema.optional(HardwareJson),
})
const guard = Schema.Union([
  Schema.Struct({ type: Schema.Literal("mark"), mark }),
  Schema.Struct({ type: Schema.Literal("pool"), pool: Schema.String, name: Schema.String }),
])

const kind = <const K extends string>(name: K) => Schema.Literal(name)

export const MigrationActionJson = Schema.Union([
  Schema.Struct({ kind: kind("save-record"), record: MigrationRecordJson }),
  Schema.Struct({ kind: kind("drop-record") }),
  Schema.Struct({
    kind: kind("create-zone"),
    zone: Schema.Struct({ name: Schema.String, peers: names, mtu: Schema.Int }),
  }),
  Schema.Struct({ kind: kind("remove-zone"), zone: Schema.String, peers: names, unapplied: Schema.optional(Schema.Boolean) }),
  Schema.Struct({
    kind: kind("create-vnet"),
    vnet: Schema.Struct({ name: Schema.String, zone: Schema.String, tag: Schema.Int, alias: Schema.String }),
  }),
  Schema.Struct({ kind: kind("remove-vnet"), vnet: Schema.String, zone: Schema.String, alias: Schema.String }),
  Schema.Struct({ kind: kind("apply-sdn"), zone: Schema.String, present: names, absent: names }),
  Schema.Struct({ kind: kind("grant-vnet"), zone: Schema.String, vnet: Schema.String, groups: names }),
  Schema.Struct({
    kind: kind("verify-networks"),
    zone: Schema.optional(Schema.String),
    networks: Schema.Array(Schema.Struct({ network: Schema.String, nodes: names })),
  }),
  Schema.Struct({
    kind: kind("move-nics"),
    vmid,
    node: Schema.String,
    name: Schema.String,
    guard,
    nics: Schema.Array(Schema.Struct({ nic: Schema.String, from: Schema.String, to: Schema.String })),
  }),
  Schema.Struct({
    kind: kind("host-address"),
    node: Schema.String,
    device: Schema.String,
    address: Schema.String,
    routes: Schema.Array(Schema.Struct({ network: Schema.String, router: Schema.String })),
    fresh: Schema.Boolean,
  }),
  Schema.Struct({
    kind: kind("range-route"),
    node: Schema.String,
    device: Schema.String,
    network: Schema.String,
    router: Schema.String,
  }),
  Schema.Struct({ kind: kind("leave-host"), node: Schema.String, device: Schema.String, address: Schema.String }),
  Schema.Struct({
    kind: kind("bridge-address"),
    node: Schema.String,
    bridge: Schema.String,
    address: Schema.optional(Schema.String),
  }),
  Schema.Struct({ kind: kind("create-bridge"), bridge }),
  Schema.Struct({
    kind: kind("remove-bridge"),
    node: Schema.String,
    bridge: Schema.String,
    unapplied: Schema.optional(Schema.Boolean),
  }),
  Schema.Struct({ kind: kind("revert-network"), node: Schema.String, bridges: names }),
  Schema.Struct({ kind: kind("reload-network"), node: Schema.String, present: names, absent: names }),
  Schema.Struct({ kind: kind("verify-machines"), node: Schema.String, machines: Schema.Array(vmid), leaving: names }),
]) satisfies Schema.Codec<MigrationAction, unknown>
