import { activationText, disguiseVendors, isClosed, type Range, rangeStates, testingModes } from "@rangewright/domain"
import type { Freshness, RangeMachine, RangeOverview } from "@rangewright/ports"
import * as Schema from "effect/Schema"
import { wireTime } from "./common.ts"

export const VMObject = Schema.Struct({
  ID: Schema.Int,
  proxmoxID: Schema.Int,
  rangeNumber: Schema.Int,
  name: Schema.String,
  poweredOn: Schema.Boolean,
  /** The text `null` while no address is known. */
  ip: Schema.String,
  isRouter: Schema.optionalKey(Schema.Boolean),
  cpu: Schema.Int,
  /** Whole GiB. */
  ram: Schema.Int,
  osVersion: Schema.optionalKey(Schema.String),
  licenseStatus: Schema.optionalKey(Schema.String),
  lastUpdate: Schema.optionalKey(Schema.String),
  /** Ours: the vendor of its disguise. Absent: not disguised. */
  disguise: Schema.optionalKey(Schema.Literals(disguiseVendors)),
  /** Since when the hypervisor's list lacks it: everything else is as last seen, and it may be gone. Absent: the list has it. */
  missingSince: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "VMObject" })

/**
 * A range with its machines. `testingState` is ours: the state of testing mode. All states but `off` count as enabled; only `on` guarantees
 * that the router is closed. `observedAt`, `awaySince` and `doubt` are ours: how fresh the machines' state is, and why missing machines are
 * in doubt. So is `guestAutomation`: present if the service is configured to do nothing inside machines, so that no deploy sets up their
 * networks, firewalls, domains and roles.
 */
export const RangeObject = Schema.Struct({
  rangeState: Schema.Literals(rangeStates),
  rangeNumber: Schema.Int,
  rangeID: Schema.String,
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  purpose: Schema.optionalKey(Schema.String),
  thumbnailUrl: Schema.optionalKey(Schema.String),
  lastDeployment: Schema.String,
  testingEnabled: Schema.Boolean,
  testingState: Schema.Literals(testingModes),
  numberOfVMs: Schema.Int,
  allowedIPs: Schema.Array(Schema.String),
  allowedDomains: Schema.Array(Schema.String),
  VMs: Schema.Array(VMObject),
  observedAt: Schema.optionalKey(Schema.String),
  awaySince: Schema.optionalKey(Schema.String),
  doubt: Schema.optionalKey(Schema.Struct({ since: Schema.String, reason: Schema.String })),
  guestAutomation: Schema.optionalKey(Schema.Literal("none")),
}).annotate({ identifier: "RangeObject" })

/** Facts that only a live query of the guest could tell. Reads never call the hypervisor, so they are not known. */
const notLooked = { osVersion: "N/A", licenseStatus: "N/A", lastUpdate: "N/A" }

/** The licence is shown as found when the machine was activated. */
const detailsOf = ({ activation }: RangeMachine) =>
  activation === undefined ? notLooked : { ...notLooked, licenseStatus: activationText(activation) }

/** `of-group`: clients of a group's ranges know a machine by `ID`; other lists leave it 0. */
export type RangeForm = "plain" | "detailed" | "of-group"

export interface RangeObjectOptions {
  readonly form: RangeForm
  /** The address to show for a machine (`shownAddresses`). */
  readonly addressOf: (machine: RangeMachine) => string | undefined
}

const disguiseOf = ({ disguises = {} }: Range, { name = "" }: RangeMachine) =>
  Object.hasOwn(disguises, name) ? { disguise: disguises[name]!.vendor } : {}

const vmObject = (range: Range, machine: RangeMachine, { form, addressOf }: RangeObjectOptions): typeof VMObject.Type => ({
  ID: form === "of-group" ? machine.vmid : 0,
  proxmoxID: machine.vmid,
  rangeNumber: range.number,
  name: machine.name ?? "",
  poweredOn: machine.power === "running",
  ip: addressOf(machine) ?? "null",
  ...(machine.isRouter ? { isRouter: true } : {}),
  cpu: machine.cpus,
  ram: Math.floor(machine.memoryMiB / 1024),
  ...(form === "detailed" ? detailsOf(machine) : {}),
  ...disguiseOf(range, machine),
  ...(machine.missingSince === undefined ? {} : { missingSince: machine.missingSince.toISOString() }),
})

export const rangeObject = ({ range, machines }: RangeOverview, options: RangeObjectOptions): typeof RangeObject.Type => {
  const vms = machines.filter((machine) => !machine.template)
  return {
    rangeState: range.state,
    rangeNumber: range.number,
    rangeID: range.id,
    name: range.name,
    ...(range.description === "" ? {} : { description: range.description }),
    ...(range.purpose === "" ? {} : { purpose: range.purpose }),
    ...(range.thumbnail === undefined
      ? {}
      : { thumbnailUrl: `/api/files/ranges/${range.recordId}/${encodeURIComponent(range.thumbnail)}` }),
    lastDeployment: wireTime(range.lastDeploymentAt),
    testingEnabled: isClosed(range.testing),
    testingState: range.testing.mode,
    numberOfVMs: vms.length,
    allowedIPs: range.testing.allowedIps,
    allowedDomains: range.testing.allowedDomains,
    VMs: vms.map((machine) => vmObject(range, machine, options)),
  }
}

/** The last members of a JSON object, common to all ranges, with the closing brace. */
export const commonTail = ({ observedAt, awaySince, doubt }: Freshness, guestsLeftOut = false): string =>
  [
    ...(observedAt === undefined ? [] : [`,"observedAt":"${observedAt.toISOString()}"`]),
    ...(awaySince === undefined ? [] : [`,"awaySince":"${awaySince.toISOString()}"`]),
    ...(doubt === undefined ? [] : [`,"doubt":${JSON.stringify(doubt)}`]),
    ...(guestsLeftOut ? [`,"guestAutomation":"none"`] : []),
    "}",
  ].join("")
