import {
  adoptionOf,
  labelOf,
  lastSeen,
  type LegacyInstallation,
  type MachineDetail,
  machineNames,
  machinesTakenOver,
  type ObservedCluster,
  type ObservedMachine,
  type RangeId,
} from "@rangewright/domain"
import { Hypervisor, Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { readRangeConfig } from "../range/read-config.ts"
import { attempt } from "./import-accounts.ts"

/** Concurrent reads of VM configurations. */
const readsAtOnce = 4

/** A range that came from the old installation, with its configuration. */
export interface RangeTakenOver {
  readonly id: RangeId
  readonly number: number
  readonly config: string
}

/** A VM to adopt by giving it a new description. */
interface Adopted {
  readonly vm: MachineDetail
  readonly description: string
}

/** The plan for the machines of imported ranges. */
export interface MachinesPlan {
  readonly adopt: readonly Adopted[]
  /** VMs of their pools, or those of the old database while the hypervisor does not answer. */
  readonly seen: readonly (ObservedMachine & { readonly address: string | undefined })[]
  /** For people. */
  readonly told: readonly string[]
}

/** Plans the VMs of one range's pool: those that a deploy would not find get our mark. */
const planPool = (range: RangeTakenOver, members: readonly ObservedMachine[]) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const parsed = yield* readRangeConfig(range.config)
    const named = Result.isSuccess(parsed) ? new Set(machineNames(range.id, parsed.success.config)) : undefined
    const leave = (vm: Pick<ObservedMachine, "vmid" | "name">, why: string): string => `${labelOf(vm)} is left unchanged: ${why}`
    const decide = (vm: ObservedMachine) =>
      Effect.gen(function* () {
        const detail = yield* Effect.result(hypervisor.detail(vm.node, vm.vmid))
        if (Result.isFailure(detail)) return leave(vm, detail.failure.message)
        const namesakes = members.filter(({ name }) => name === detail.success.name).length
        const adoption = adoptionOf(range.id, detail.success, { named, namesakes })
        if (adoption.kind === "ours") return undefined
        return adoption.kind === "leave" ? leave(vm, adoption.why) : { vm: detail.success, description: adoption.description }
      })
    return yield* Effect.forEach(members, decide, { concurrency: readsAtOnce })
  })

const isAdopted = (one: Adopted | string | undefined): one is Adopted => typeof one === "object"
const isText = (one: Adopted | string | undefined): one is string => typeof one === "string"

/** Reads the hypervisor and changes nothing. */
export const planMachines = (legacy: LegacyInstallation, ranges: readonly RangeTakenOver[]) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const { machines: known, left } = machinesTakenOver(legacy, ranges)
    const strays = left === 0 ? [] : [`machines of the database whose range was not imported: ${left}`]
    if (ranges.length === 0) return { adopt: [], seen: [], told: strays } satisfies MachinesPlan
    const observed = yield* Effect.result(hypervisor.observe)
    if (Result.isFailure(observed)) {
      const why = `the machines are shown as in the database, and none is adopted: ${observed.failure.message}; repeat this`
      const seen = known.map((machine) => ({ ...lastSeen(machine), address: machine.address }))
      return { adopt: [], seen, told: [...strays, why] } satisfies MachinesPlan
    }
    const addresses = new Map(known.map(({ vmid, address }) => [vmid, address]))
    const pools = ranges.map((range) => ({ range, members: membersOf(observed.success, range.id) }))
    const decided = yield* Effect.forEach(pools, ({ range, members }) => planPool(range, members))
    const there = new Set(pools.flatMap(({ members }) => members.map(({ vmid }) => vmid)))
    return {
      adopt: decided.flat().filter(isAdopted),
      seen: pools.flatMap(({ members }) => members.map((vm) => ({ ...vm, address: addresses.get(vm.vmid) }))),
      told: [
        ...strays,
        ...known
          .filter(({ vmid }) => !there.has(vmid))
          .map((machine) => `${labelOf(machine)}: the hypervisor has no such VM in the pool ${machine.rangeId}`),
        ...decided.flat().filter(isText),
      ],
    } satisfies MachinesPlan
  })

const membersOf = (cluster: ObservedCluster, rangeId: RangeId): readonly ObservedMachine[] =>
  cluster.machines.filter(({ pool, template }) => pool === rangeId && !template)

/**
 * Stores what was seen where nothing newer is known, so that it shows at once, and adopts VMs. Returns how many were adopted, and what was
 * not.
 */
export const importMachines = ({ adopt, seen, told }: MachinesPlan) =>
  Effect.gen(function* () {
    const machines = yield* Machines
    const hypervisor = yield* Hypervisor
    for (const machine of seen) {
      const kept = yield* machines.find(machine.vmid)
      if (kept === undefined || (kept.address === undefined && machine.address !== undefined)) yield* machines.record(machine)
    }
    let count = 0
    const failed = yield* Effect.forEach(adopt, ({ vm, description }) =>
      attempt(
        labelOf(vm),
        Effect.map(hypervisor.adopt(vm, description), () => void (count += 1)),
      ),
    )
    return { count, told: [...told, ...failed.flat()] }
  })
