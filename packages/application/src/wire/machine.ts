import {
  activationText,
  disguiseVendors,
  type GuestSystem,
  placeOf,
  powerStates,
  type Range,
  type Topology,
} from "@rangewright/domain"
import type { Freshness, KeptSnapshots, RangeMachine, RunRecord } from "@rangewright/ports"
import * as Schema from "effect/Schema"
import { RunSummary, runSummary } from "./run.ts"
import { TopologyMachineObject } from "./topology.ts"

const { address, configured, os, template, domain, missingSince } = TopologyMachineObject.fields

/** A machine of a range: its last observed state, its configuration, and what its guest reported. */
export const MachineObject = Schema.Struct({
  vmid: Schema.Int,
  name: Schema.String,
  rangeID: Schema.String,
  node: Schema.String,
  power: Schema.Literals(powerStates),
  isRouter: Schema.Boolean,
  cpus: Schema.Int,
  memoryMiB: Schema.Finite,
  /** On the hypervisor. */
  tags: Schema.Array(Schema.String),
  address,
  /** Other addresses that its guest reports and that belong to others. */
  foreignAddresses: Schema.Array(Schema.String),
  configured,
  /** Absent for the router, and if unknown. */
  vlan: Schema.optionalKey(Schema.Int),
  network: Schema.optionalKey(Schema.String),
  gateway: Schema.optionalKey(Schema.String),
  os,
  template,
  domain,
  /** The operating system as the guest agent last reported it; absent: not reported yet. */
  agent: Schema.optionalKey(
    Schema.Struct({
      id: Schema.optionalKey(Schema.String),
      name: Schema.optionalKey(Schema.String),
      versionId: Schema.optionalKey(Schema.String),
      kernel: Schema.optionalKey(Schema.String),
      machine: Schema.optionalKey(Schema.String),
    }),
  ),
  /** The Windows licence as found at the last activation. */
  licence: Schema.optionalKey(Schema.String),
  disguise: Schema.optionalKey(Schema.Literals(disguiseVendors)),
  /** As last read; absent: never read. */
  snapshots: Schema.optionalKey(
    Schema.Struct({ count: Schema.Int, current: Schema.optionalKey(Schema.String), readAt: Schema.String }),
  ),
  missingSince,
  /** The newest of the range's last runs that did something to it. Absent: none of them did. */
  lastChange: Schema.optionalKey(RunSummary),
  observedAt: Schema.optionalKey(Schema.String),
  awaySince: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "MachineObject" })

/** All stored facts about a machine. */
export interface KnownMachine {
  readonly range: Range
  readonly machine: RangeMachine
  readonly topology: Topology
  readonly system: GuestSystem | undefined
  readonly snapshots: KeptSnapshots | undefined
  readonly lastChange: RunRecord | undefined
  readonly freshness: Freshness
}

const snapshotsOf = ({ snapshots, current, readAt }: KeptSnapshots) => ({
  count: snapshots.length,
  ...(current === undefined ? {} : { current }),
  readAt: readAt.toISOString(),
})

export const machineObject = (known: KnownMachine): typeof MachineObject.Type => {
  const { range, machine, topology, system, snapshots, lastChange, freshness } = known
  const { vmid, name = "", node, power, isRouter, cpus, memoryMiB, tags, foreignAddresses = [], activation } = machine
  // the hypervisor's name, VMID and power take precedence over those of the topology
  const { machine: placed, lane } = placeOf(topology, vmid) ?? {}
  const { name: _, vmid: __, power: ___, ...inNetwork } = placed ?? { name, power }
  const { vlan, network, gateway } = lane ?? {}
  const disguises = range.disguises ?? {}
  return {
    vmid,
    name,
    rangeID: range.id,
    node,
    power,
    isRouter,
    cpus,
    memoryMiB,
    tags,
    foreignAddresses,
    ...inNetwork,
    ...(vlan === undefined ? {} : { vlan }),
    ...(network === undefined ? {} : { network }),
    ...(gateway === undefined ? {} : { gateway }),
    ...(system === undefined ? {} : { agent: system }),
    ...(activation === undefined ? {} : { licence: activationText(activation) }),
    ...(Object.hasOwn(disguises, name) ? { disguise: disguises[name]!.vendor } : {}),
    ...(snapshots === undefined ? {} : { snapshots: snapshotsOf(snapshots) }),
    ...(lastChange === undefined ? {} : { lastChange: runSummary(lastChange) }),
    ...(freshness.observedAt === undefined ? {} : { observedAt: freshness.observedAt.toISOString() }),
    ...(freshness.awaySince === undefined ? {} : { awaySince: freshness.awaySince.toISOString() }),
  }
}
