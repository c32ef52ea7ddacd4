import type { InstallationMachine } from "@rangewright/domain"
import type { HypervisorFault, HypervisorInstallation, NetworkMigration } from "@rangewright/ports"
import * as Cache from "effect/Cache"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

type Port = Context.Service.Shape<typeof NetworkMigration>

/** How long a look serves, in seconds: whoever polls costs the hypervisor a call for each machine no oftener than this. */
const servesFor = 3

/** The name and the cards of machines as they were when they could be read, by VMID. */
const machineMemory = () => {
  let known: ReadonlyMap<number, InstallationMachine> = new Map()
  return (machines: readonly InstallationMachine[]): readonly InstallationMachine[] => {
    const all = machines.map((now): InstallationMachine => {
      const before = now.nics === undefined ? known.get(now.vmid) : undefined
      return before === undefined ? now : { ...before, node: now.node, unseen: true }
    })
    known = new Map(all.filter(({ nics }) => nics !== undefined).map((machine) => [machine.vmid, machine]))
    return all
  }
}

export interface Glances {
  readonly glance: Port["glance"]
  /** Something changes here: the next glance looks anew. */
  readonly outdate: Effect.Effect<void>
}

/** Looks that are shared, and that remember what can be seen no more. A look that failed is taken again. */
export const makeGlances = (observe: Port["observe"]): Glances => {
  const recall = machineMemory()
  const look = (zone: string): Effect.Effect<HypervisorInstallation, HypervisorFault> =>
    Effect.map(observe({ zone, snapshots: false }), (seen) => ({ ...seen, machines: recall(seen.machines) }))
  const cache = Effect.runSync(
    Cache.makeWith(look, {
      capacity: 8,
      timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.seconds(servesFor) : Duration.zero),
    }),
  )
  return { glance: (zone) => Cache.get(cache, zone), outdate: Cache.invalidateAll(cache) }
}
