import type { ObservedMachine, ObservedNode, PowerState, Vmid } from "@rangewright/domain"
import type { MachineAction } from "@rangewright/ports"

/** The cluster's list shows a VM's state up to 10 s late; this allows a little more. */
const lateMs = 12_000

const powerAfter: Partial<Record<MachineAction["kind"], PowerState>> = {
  start: "running",
  stop: "stopped",
  shutdown: "stopped",
}

/**
 * Remembers the results of this process's power changes while the cluster's list may not show them yet: a user who just switched a machine
 * off must not be told that it runs. All times are milliseconds of the monotonic clock.
 */
export const makeSettledPower = () => {
  const settled = new Map<Vmid, { readonly power: PowerState; readonly at: number }>()
  return {
    /** A change begins: the previous state is no longer known. */
    begun: ({ kind, machine }: MachineAction): void => {
      if (kind !== "take-snapshot" && kind !== "remove-snapshot") settled.delete(machine.vmid)
    },
    settled: ({ kind, machine }: MachineAction, at: number): void => {
      const power = powerAfter[kind]
      if (power !== undefined) settled.set(machine.vmid, { power, at })
    },
    /** The list as it would be without the delay. Where a node is unreachable, the state of its machines is unknown. */
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
