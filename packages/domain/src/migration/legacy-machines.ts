import { isVmid, type RangeId, type Vmid } from "../access/ids.ts"
import { isServiceDescription, readDescription, writeDescription } from "../machine/mark.ts"
import type { MachineDetail, ObservedMachine } from "../machine/observed.ts"
import { addressNumber } from "../network/cidr.ts"
import type { LegacyInstallation } from "./legacy.ts"
import { legacyLine } from "./legacy-values.ts"

/** A machine of the old database that belongs to a range here. */
export interface ImportedMachine {
  readonly vmid: Vmid
  readonly rangeId: RangeId
  readonly name: string
  readonly poweredOn: boolean
  /** An IPv4 address; undefined when the old service had none. */
  readonly address: string | undefined
}

/** The ranges that were taken over from the old installation: those of the same user with the same number. */
export const rangesTakenOver = <A extends { readonly id: RangeId; readonly number: number }>(
  { ranges }: LegacyInstallation,
  here: readonly A[],
): readonly A[] => here.filter(({ id, number }) => ranges.some((range) => range.userId === id && range.number === number))

/** The machines of these ranges, each VMID once. `left`: how many entries have no such range, no valid VMID, or a repeated one. */
export const machinesTakenOver = (
  { machines }: LegacyInstallation,
  ranges: readonly { readonly id: RangeId; readonly number: number }[],
): { readonly machines: readonly ImportedMachine[]; readonly left: number } => {
  const rangeOf = new Map(ranges.map(({ id, number }) => [number, id]))
  const found = new Map<Vmid, ImportedMachine>()
  for (const { vmid, rangeNumber, name, poweredOn, address } of machines) {
    const rangeId = rangeOf.get(rangeNumber)
    if (rangeId === undefined || !isVmid(vmid) || found.has(vmid)) continue
    const known = addressNumber(address) === undefined ? undefined : address
    found.set(vmid, { vmid, rangeId, name: legacyLine(name), poweredOn, address: known })
  }
  return { machines: [...found.values()], left: machines.length - found.size }
}

/** A machine of the old database as it is shown until the hypervisor has been read. */
export const lastSeen = ({ vmid, rangeId, name, poweredOn }: ImportedMachine): ObservedMachine => ({
  vmid,
  node: "",
  name: name === "" ? undefined : name,
  power: poweredOn ? "running" : "stopped",
  template: false,
  pool: rangeId,
  cpus: 0,
  memoryMiB: 0,
  tags: [],
})

/** What happens to a VM in the pool of a range that was taken over. */
export type Adoption =
  /** It gets this description, which holds our mark. */
  | { readonly kind: "adopt"; readonly description: string }
  /** It has our mark already. */
  | { readonly kind: "ours" }
  /** It stays as it is. */
  | { readonly kind: "leave"; readonly why: string }

/**
 * Which VMs of the old service become ours (ADR 24): members of the range's pool whose name the configuration gives to a machine, one VM
 * per name, and whose description holds nothing but the groups that the old service wrote. Others are left alone: a deploy removes
 * VMs of ours that the configuration does not name, and nobody asked for that.
 */
export const adoptionOf = (
  rangeId: RangeId,
  vm: MachineDetail,
  /** `named`: by the configuration; undefined when it cannot be read. `namesakes`: VMs in the pool with this name, itself included. */
  { named, namesakes }: { readonly named: ReadonlySet<string> | undefined; readonly namesakes: number },
): Adoption => {
  const { mark, groups } = readDescription(vm.description)
  if (mark?.range === rangeId) return { kind: "ours" }
  const leave = (why: string): Adoption => ({ kind: "leave", why })
  if (mark !== undefined) return leave(`its mark names the range ${mark.range}`)
  if (vm.template) return leave("it is a template")
  if (named === undefined) return leave("the configuration of its range has errors; fix it and repeat the import")
  if (!named.has(vm.name)) return leave("the configuration has no such machine")
  if (namesakes > 1) return leave("another VM in the pool has its name")
  if (!isServiceDescription(vm.description)) return leave("its description contains text that is not from the old service")
  return { kind: "adopt", description: writeDescription({ range: rangeId, machine: vm.name, adopted: true }, groups) }
}
