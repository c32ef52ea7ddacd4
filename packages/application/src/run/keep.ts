import {
  type Action,
  findSnapshot,
  type GuestStage,
  letIn,
  type MachineRef,
  noSnapshots,
  stageFingerprint,
  type Step,
} from "@rangewright/domain"
import {
  AccessRecords,
  type Hypervisor,
  type HypervisorFault,
  Machines,
  type MachineSighting,
  type StorageFault,
} from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Settlement } from "@rangewright/run-engine"
import { noteTold } from "../range/note-told.ts"
import { readSnapshots } from "../range/snapshot-reader.ts"

/** Stages that change the Windows licence. */
const endsLicence: ReadonlySet<GuestStage> = new Set(["sysprep", "activate-windows", "kms-server"])

type RollBack = Extract<Action, { readonly kind: "roll-back" }>
type Change = Partial<Omit<MachineSighting, "vmid" | "node" | "pool">>

/** The users whom the router may let in after this step, as far as the step says; undefined: the step does not change that. */
const mayLetIn = Effect.fnUntraced(function* (action: Action) {
  const machines = yield* Machines
  if (action.kind === "guest") return action.stage === "firewall" ? letIn(action.input) : undefined
  if (action.kind !== "roll-back") return undefined
  // a rollback restores the router's rules of that time; an unknown machine may be the router
  return (yield* machines.find(action.machine.vmid))?.isRouter === false ? undefined : []
})

/**
 * Records a machine's settings before a rollback changes them, until they are restored. Settings owed from an earlier rollback stay owed.
 */
const noteOwed = Effect.fnUntraced(function* ({ machine, settings, generation }: RollBack) {
  if (settings === undefined) return
  const machines = yield* Machines
  const { range } = machine.mark
  const before = (yield* machines.owed(range)).get(machine.vmid)
  yield* machines.owe(range, machine.vmid, { settings, generation: before === undefined ? generation : before.generation })
})

/**
 * Records what a step is about to change and nobody could find out later: whom a router may let in, and a machine's hardware. Because of
 * that, a router that is rolled back is updated again. May be repeated.
 */
export const noteBefore = Effect.fnUntraced(function* ({
  action,
}: Step): Effect.fn.Return<void, StorageFault, AccessRecords | Machines> {
  const machines = yield* Machines
  if (action.kind === "roll-back") yield* noteOwed(action)
  // its licence is unknown until the next check
  if (action.kind === "roll-back" || (action.kind === "guest" && endsLicence.has(action.stage)))
    yield* machines.keepActivation(action.machine.mark.range, action.machine.vmid, undefined)
  const told = yield* mayLetIn(action)
  if (told === undefined || !("machine" in action)) return
  yield* noteTold(action.machine.mark.range, told)
})

const record = Effect.fnUntraced(function* ({ vmid, node, mark }: MachineRef, change: Change) {
  const machines = yield* Machines
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

const recordAddress = Effect.fnUntraced(function* (
  machine: MachineRef,
  { facts: { address: own, foreignAddresses } }: Settlement,
) {
  const machines = yield* Machines
  const known = foreignAddresses === undefined ? undefined : (yield* machines.find(machine.vmid))?.foreignAddresses
  const isNews = foreignAddresses !== undefined && foreignAddresses.join() !== (known ?? []).join()
  if (own !== undefined || isNews) yield* record(machine, { address: own, foreignAddresses })
})

type SnapshotAction = Extract<Action, { readonly kind: "take-snapshot" | "roll-back" | "remove-snapshot" }>

/**
 * Stores a machine's snapshots after the action, read live, so that listing them needs no call. A rollback also restores the record of the
 * work done inside the machine.
 */
const keepAfter = Effect.fnUntraced(function* (action: SnapshotAction) {
  const machines = yield* Machines
  const { node, vmid, mark } = action.machine
  const tree = yield* readSnapshots({ node, vmid })
  const name = action.kind === "take-snapshot" ? action.snapshot.name : action.snapshot
  const snapshot = findSnapshot(tree, name)
  // stored first: an older read that came in between would discard the stages that are stored next
  yield* machines.keepSnapshots(mark.range, vmid, tree)
  if (snapshot !== undefined && action.kind === "take-snapshot") yield* machines.keepStages(mark.range, vmid, snapshot)
  if (snapshot !== undefined && action.kind === "roll-back") {
    yield* machines.recallStages(mark.range, vmid, snapshot)
    yield* record(action.machine, { power: snapshot.memory && tree.running !== false ? "running" : "stopped" })
  }
})

/** Stores what a settled step changed, so that reads show it at once and the next plan knows which stages have run. May be repeated. */
export const keepSettled = Effect.fnUntraced(function* (
  { key, action }: Pick<Step, "key" | "action">,
  settlement: Settlement,
): Effect.fn.Return<void, StorageFault | HypervisorFault, AccessRecords | Hypervisor | Machines> {
  const machines = yield* Machines
  const records = yield* AccessRecords
  switch (action.kind) {
    case "take-snapshot":
    case "roll-back":
    case "remove-snapshot":
      return yield* keepAfter(action)
    case "clone": {
      const { vmid, mark } = action.machine
      // discards state of an earlier VM with this VMID: a clone has its template's login
      yield* machines.keepLogin(mark.range, vmid, {})
      yield* machines.keepActivation(mark.range, vmid, undefined)
      yield* machines.keepSnapshots(mark.range, vmid, { ...noSnapshots, readAt: new Date(yield* Clock.currentTimeMillis) })
      return yield* record(action.machine, { name: action.name, power: "stopped" })
    }
    case "configure": {
      const { cpus, memoryMiB, tags } = action.settings
      const { vmid, mark } = action.machine
      if ((yield* machines.owed(mark.range)).has(vmid)) yield* machines.owe(mark.range, vmid, undefined)
      return yield* record(action.machine, { cpus, memoryMiB, tags })
    }
    case "start":
      return yield* record(action.machine, { power: "running" })
    case "stop":
    case "shutdown":
      return yield* record(action.machine, { power: "stopped" })
    case "delete":
      return yield* machines.forget(action.machine.vmid)
    case "await-address":
      return yield* recordAddress(action.machine, settlement)
    case "guest": {
      const { machine, input, stage } = action
      yield* recordAddress(machine, settlement)
      yield* machines.recordStage(machine.mark.range, machine.vmid, key, stageFingerprint(input))
      if (stage === "firewall") yield* records.tell(machine.mark.range, letIn(input))
      return
    }
    case "create-pool":
    case "remove-pool":
    case "create-network":
    case "remove-network":
    case "grant-access":
    case "record-testing":
    case "record-disguises":
    case "refuse":
    case "work":
      return
  }
})
