import type { RangeMachine } from "@rangewright/ports"

/** The machines that a caller named, or the names that match none, ascending. */
export type NamedMachines =
  | { readonly known: true; readonly machines: readonly RangeMachine[]; readonly all: boolean }
  | { readonly known: false; readonly unknown: readonly string[] }

/**
 * Machines of a range by name or VMID. A number is tried as a VMID first. `all`, alone, is every machine, the router too; it returns what
 * the range has, which may be nothing. Duplicate names count once.
 */
export const namedMachines = (wanted: readonly (string | number)[], machines: readonly RangeMachine[]): NamedMachines => {
  const own = machines.filter((machine) => !machine.template)
  const names = wanted.map((name) => String(name).trim())
  if (names.length === 1 && names[0] === "all") return { known: true, machines: own, all: true }
  const unknown = new Set<string>()
  const found = new Set<RangeMachine>()
  for (const name of names) {
    const machine = own.find(({ vmid }) => String(vmid) === name) ?? own.find((candidate) => candidate.name === name)
    if (machine === undefined) unknown.add(name)
    else found.add(machine)
  }
  return unknown.size > 0 ? { known: false, unknown: [...unknown].toSorted() } : { known: true, machines: [...found], all: false }
}
