import { type MachineRef, stageFingerprint, type Step } from "@rangewright/domain"
import { Machines, type MachineSighting, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Settlement } from "./effects.ts"

type Change = Partial<Omit<MachineSighting, "vmid" | "node" | "pool">>

/** Keeps what a settled step changed, so that reads show it at once and the next plan knows which stages have run. Repeating it is safe. */
export const makeKeep = Effect.gen(function* () {
  const machines = yield* Machines

  const record = Effect.fnUntraced(function* ({ vmid, node, mark }: MachineRef, change: Change) {
    const known = yield* machines.find(vmid)
    yield* machines.record({
      vmid,
      node,
      pool: mark.range,
      name: known?.name,
      power: known?.power ?? "unknown",
      template: false,
      cpus: known?.cpus ?? 0,
      memoryMiB: known?.memoryMiB ?? 0,
      tags: known?.tags ?? [],
      ...change,
    })
  })
  const address = Effect.fnUntraced(function* (machine: MachineRef, { facts: { address: own, foreignAddresses } }: Settlement) {
    const known = foreignAddresses === undefined ? undefined : (yield* machines.find(machine.vmid))?.foreignAddresses
    const isNews = foreignAddresses !== undefined && foreignAddresses.join() !== (known ?? []).join()
    if (own !== undefined || isNews) yield* record(machine, { address: own, foreignAddresses })
  })

  return ({ key, action }: Step, settlement: Settlement): Effect.Effect<void, StorageFault> => {
    switch (action.kind) {
      case "clone":
        // whatever had this number before: a clone has its template's login
        return Effect.andThen(
          machines.keepLogin(action.machine.mark.range, action.machine.vmid, {}),
          record(action.machine, { name: action.name, power: "stopped" }),
        )
      case "configure": {
        const { cpus, memoryMiB, tags } = action.settings
        return record(action.machine, { cpus, memoryMiB, tags })
      }
      case "start":
        return record(action.machine, { power: "running" })
      case "stop":
      case "shutdown":
        return record(action.machine, { power: "stopped" })
      case "delete":
        return machines.forget(action.machine.vmid)
      case "await-address":
        return address(action.machine, settlement)
      case "guest":
        return address(action.machine, settlement).pipe(
          Effect.andThen(
            machines.recordStage(action.machine.mark.range, action.machine.vmid, key, stageFingerprint(action.input)),
          ),
        )
      case "create-pool":
      case "remove-pool":
      case "create-network":
      case "remove-network":
      case "grant-access":
      case "work":
        return Effect.void
    }
  }
})
