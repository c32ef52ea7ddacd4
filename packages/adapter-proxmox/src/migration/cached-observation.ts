import { type InstallationMachine, onNetwork } from "@rangewright/domain"
import type { HypervisorFault, HypervisorInstallation, NetworkMigration, NetworkMigrationAction } from "@rangewright/ports"
import * as Cache from "effect/Cache"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

type Port = Context.Service.Shape<typeof NetworkMigration>

/** Seconds that an observation is reused: each new one costs the hypervisor a call for each machine. */
const servesFor = 3

type Move = Extract<NetworkMigrationAction, { readonly kind: "move-nics" }>

/** Machines as last read successfully, with the cards that were moved since. */
const machineMemory = () => {
  const known = new Map<number, InstallationMachine>()
  return {
    learn: (machines: readonly InstallationMachine[]): void => {
      const listed = new Set<number>(machines.map(({ vmid }) => vmid))
      for (const vmid of known.keys()) if (!listed.has(vmid)) known.delete(vmid)
      for (const now of machines) if (now.nics !== undefined) known.set(now.vmid, { ...now, snapshots: [] })
    },
    moved: ({ vmid, nics }: Move): void => {
      const before = known.get(vmid)
      if (before?.nics === undefined) return
      const moves = new Map(nics.map((move) => [move.nic, move.to]))
      const cards = before.nics.map((card) => {
        const to = moves.get(card.nic)
        return to === undefined ? card : { nic: card.nic, text: onNetwork(card.text, to) }
      })
      known.set(vmid, { ...before, nics: cards })
    },
    recall: (now: InstallationMachine): InstallationMachine => {
      const before = now.nics === undefined ? known.get(now.vmid) : undefined
      return before === undefined ? now : { ...before, node: now.node, unseen: true }
    },
  }
}

export interface CachedObservation {
  readonly observe: Port["observe"]
  readonly observeCached: Port["observeCached"]
  /** Something was changed: the next `observeCached` observes again. */
  readonly invalidate: Effect.Effect<void>
  readonly moved: (move: Move) => void
}

/**
 * A cached observation of the installation. For machines that can no longer be read it keeps the last known state; failures are not cached.
 */
export const cachedObservation = (look: Port["observe"]): CachedObservation => {
  const memory = machineMemory()
  const observe: Port["observe"] = (input) => Effect.tap(look(input), ({ machines }) => Effect.sync(() => memory.learn(machines)))
  const recalled = (zone: string): Effect.Effect<HypervisorInstallation, HypervisorFault> =>
    Effect.map(observe({ zone, snapshots: false }), (seen) => ({ ...seen, machines: seen.machines.map(memory.recall) }))
  const cache = Effect.runSync(
    Cache.makeWith(recalled, {
      capacity: 8,
      timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.seconds(servesFor) : Duration.zero),
    }),
  )
  return { observe, observeCached: (zone) => Cache.get(cache, zone), invalidate: Cache.invalidateAll(cache), moved: memory.moved }
}
