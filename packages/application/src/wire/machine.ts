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

/** A machine of a range: what the hypervisor was last seen with, what the configuration says, and what its guest said. */
export const MachineObject = Schema.Struct({
  vmid: Schema.Int,
  name: Schema.String,
  rangeID: Schema.String,
  node: Schema.String,
  power: Schema.Literals(powerStates),
  isRouter: Schema.Boolean,
  cpus: Schema.Int,
  memoryMiB: Schema.Finite,
  /** At the hypervisor. */
  tags: Schema.Array(Schema.String),
  address,
  /** What else its guest claims to have, and belongs to others. */
  foreignAddresses: Schema.Array(Schema.String),
  configured,
  /** Absent for the router, and where it is not known. */
  vlan: Schema.optionalKey(Schema.Int),
  network: Schema.optionalKey(Schema.String),
  gateway: Schema.optionalKey(Schema.String),
  os,
  template,
  domain,
  /** What its guest agent said of its system when it was asked last; absent: it said nothing yet. */
  agent: Schema.optionalKey(
    Schema.Struct({
      id: Schema.optionalKey(Schema.String),
      name: Schema.optionalKey(Schema.String),
      versionId: Schema.optionalKey(Schema.String),
      kernel: Schema.optionalKey(Schema.String),
      machine: Schema.optionalKey(Schema.String),
    }),
  ),
  /** Of its Windows, as it was found when it was activated. */
  licence: Schema.optionalKey(Schema.String),
  disguise: Schema.optionalKey(Schema.Literals(disguiseVendors)),
  /** As they were last read; absent: they were not. */
  snapshots: Schema.optionalKey(
    Schema.Struct({ count: Schema.Int, current: Schema.optionalKey(Schema.String), readAt: Schema.String }),
  ),
  missingSince,
  /** The newest of the range's last runs that has done something to it. Absent: none of them has. */
  lastChange: Schema.optionalKey(RunSummary),
  observedAt: Schema.optionalKey(Schema.String),
  awaySince: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "MachineObject" })

/** What is kept of a machine, in one. */
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
  // what it is called there is what the hypervisor calls it
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
