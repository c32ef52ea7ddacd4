import type { RangeId, Vmid } from "../access/ids.ts"
import type { Installation, MigrationOptions } from "./installation.ts"
import { networkPairs } from "./layout.ts"
import { isRecorded } from "./machines.ts"
import { nicNetwork } from "./nic.ts"
import { asRecorded } from "./outside.ts"

/** Where a card of a machine is now, compared with before the migration. */
export interface NicReport {
  readonly nic: string
  readonly before: string
  /** Undefined: the card is gone. */
  readonly now: string | undefined
  readonly state:
    /** On the VNet that replaced the bridge, and otherwise unchanged. */
    | "moved"
    /** On that VNet, and otherwise changed since. */
    | "moved-and-changed"
    | "on-bridge"
    /** On a third network. */
    | "elsewhere"
    | "gone"
}

export interface MachineReport {
  readonly vmid: Vmid
  readonly name: string
  readonly node: string
  readonly range: RangeId | undefined
  /** False: the machine is gone (its VMID may have been reused), or it cannot be read. */
  readonly present: boolean
  readonly nics: readonly NicReport[]
}

/** What a migration did to each machine, from the record that it saved and the current state. */
export const migrationReport = (installation: Installation, options: MigrationOptions): readonly MachineReport[] => {
  const successors = new Map(
    networkPairs(installation.ranges, asRecorded(installation, options)).map(({ bridge, vnet }) => [bridge, vnet]),
  )
  const present = new Map(installation.machines.map((machine) => [machine.vmid, machine]))
  return (installation.record?.machines ?? []).map(({ vmid, name, node, range, nics }): MachineReport => {
    const found = present.get(vmid)
    const machine = found !== undefined && isRecorded({ vmid, name, range }, found) ? found : undefined
    const now = new Map(machine?.nics?.map(({ nic, text }) => [nic, text]))
    return {
      vmid,
      name: machine?.name ?? name,
      node: machine?.node ?? node,
      range,
      present: machine?.nics !== undefined,
      nics: nics.map(({ nic, text }) => reportNic(nic, text, now.get(nic), successors)),
    }
  })
}

const withoutNetwork = (text: string): string =>
  text
    .split(",")
    .filter((part) => !part.startsWith("bridge="))
    .join(",")

const reportNic = (nic: string, before: string, now: string | undefined, successors: ReadonlyMap<string, string>): NicReport => {
  const bridge = nicNetwork(before)
  const network = now === undefined ? undefined : nicNetwork(now)
  const state = (): NicReport["state"] => {
    if (now === undefined) return "gone"
    if (network === bridge) return "on-bridge"
    if (bridge === undefined || network !== successors.get(bridge)) return "elsewhere"
    return withoutNetwork(now) === withoutNetwork(before) ? "moved" : "moved-and-changed"
  }
  return { nic, before, now, state: state() }
}
