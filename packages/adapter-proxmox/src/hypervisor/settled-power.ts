import type { ObservedMachine, ObservedNode, PowerState, Vmid } from "@rangewright/domain"
import type { MachineAction } from "@rangewright/ports"

/** The cluster's list learns a VM's state up to 10 s late; a little more is allowed for. */
const lateMs = 12_000

const powerAfter: Partial<Record<MachineAction["kind"], PowerState>> = {
  start: "running",
  stop: "stopped",
  shutdown: "stopped",
}

/**
 * What power changes of this process came to, for as long as the cluster's list may not know it: who switches a machine off and on again
 * must not be told that it runs. All times are milliseconds of the monotonic clock.
 */
export const makeSettledPower = () => {
  const settled = new Map<Vmid, { readonly power: PowerState; readonly at: number }>()
  return {
    /** A change begins: what was is not known any more. */
    begun: ({ kind, machine }: MachineAction): void => {
      if (kind !== "take-snapshot" && kind !== "remove-snapshot") settled.delete(machine.vmid)
    },
    settled: ({ kind, machine }: MachineAction, at: number): void => {
      const power = powerAfter[kind]
      if (power !== undefined) settled.set(machine.vmid, { power, at })
    },
    /** The list as it would be if it were not late. Where a node is unreachable, nobody knows what its machines do. */
    over: (machines: readonly ObservedMachine[], nodes: readonly ObservedNode[], now: number): readonly ObservedMachine[] => {
      for (const [vmid, { at }] of settled) if (now - at > lateMs) settled.delete(vmid)
      if (settled.size === 0) return machines
      const online = new Set(nodes.flatMap((node) => (node.online ? [node.name] : [])))
      return machines.map((machine) => {
        const known = online.has(machine.node) ? settled.get(machine.vmid) : undefined
        return known === undefined ? machine : { ...machine, power: known.power }
      })
    },
  }
}
