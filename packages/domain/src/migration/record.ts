import type { Installation, InstallationBridge, MigrationOptions, MigrationRecord, RecordedMachine } from "./installation.ts"
import type { NetworkPair } from "./layout.ts"
import { groupBy } from "../group-by.ts"
import { isRecorded, type OwnMachine } from "./machines.ts"
import { type NicText, nicNetwork } from "./nic.ts"

/** What the migration is about to create, for the record. */
export interface AboutToMake extends Pick<MigrationOptions, "zone" | "natBridge" | "natVnet"> {
  readonly madeZone: boolean
  readonly madeVnets: readonly string[]
}

const bridgeKey = ({ node, name }: Pick<InstallationBridge, "node" | "name">): string => `${node}\n${name}`

/** Cards that are on an old bridge now are recorded as they are; the others stay as the earlier record has them. */
const recordMachine = (
  { machine, range }: OwnMachine,
  isOld: (network: string | undefined) => boolean,
  known: RecordedMachine | undefined,
): readonly RecordedMachine[] => {
  const before = new Map(known?.nics.map(({ nic, text }) => [nic, text]))
  for (const { nic, text } of machine.nics ?? []) if (isOld(nicNetwork(text))) before.set(nic, text)
  if (before.size === 0) return []
  const nics = [...before].map(([nic, text]) => ({ nic, text })).sort((a, b) => nicIndex(a) - nicIndex(b))
  return [{ vmid: machine.vmid, name: machine.name, node: machine.node, range, nics }]
}

const nicIndex = ({ nic }: NicText): number => Number(nic.slice(3))

/** The record of the current state, together with what an earlier one knows of things that have moved since: nothing is lost. */
export const takeRecord = (
  installation: Installation,
  pairs: readonly NetworkPair[],
  own: readonly OwnMachine[],
  making: AboutToMake,
): MigrationRecord => {
  const saved = installation.record
  const old = new Set(pairs.map(({ bridge }) => bridge))
  const bridges = new Map(saved?.bridges.map((bridge) => [bridgeKey(bridge), bridge]))
  for (const bridge of installation.bridges) {
    if (!old.has(bridge.name)) continue
    // an address that has moved to the VNet meanwhile belongs to the state before
    const address = bridge.address ?? bridges.get(bridgeKey(bridge))?.address
    bridges.set(bridgeKey(bridge), { ...bridge, address })
  }
  const known = groupBy(saved?.machines ?? [], ({ vmid }) => vmid)
  const knownOf = ({ machine }: OwnMachine): RecordedMachine | undefined =>
    known.get(machine.vmid)?.find((recorded) => isRecorded(recorded, machine))
  const isOld = (network: string | undefined): boolean => network !== undefined && old.has(network)
  const machines = own.flatMap((one) => recordMachine(one, isOld, knownOf(one)))
  const present = new Set(own.map(knownOf))
  return {
    version: 1,
    zone: making.zone,
    natBridge: making.natBridge,
    natVnet: making.natVnet,
    madeZone: making.madeZone || (saved?.madeZone ?? false),
    madeVnets: [...new Set([...(saved?.madeVnets ?? []), ...making.madeVnets])].sort(),
    bridges: [...bridges.values()],
    // machines that are gone stay in the record: the report lists them
    machines: [...machines, ...(saved?.machines ?? []).filter((one) => !present.has(one))].sort((a, b) => a.vmid - b.vmid),
  }
}

const canonical = (record: MigrationRecord): string =>
  JSON.stringify({
    ...record,
    bridges: record.bridges.toSorted((a, b) => (bridgeKey(a) < bridgeKey(b) ? -1 : 1)),
  })

/** Whether two records say the same, in whatever order their bridges are. */
export const sameRecord = (a: MigrationRecord, b: MigrationRecord): boolean => canonical(a) === canonical(b)
