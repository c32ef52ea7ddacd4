import type { Fault, Range, Vmid } from "@rangewright/domain"
import { type KeptSnapshots, Machines, type RangeMachine } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { reasonOf } from "../wire/bulk.ts"
import { commaList } from "../wire/parameters.ts"
import { named, type SnapshotError, snapshotInfos, type SnapshotList } from "../wire/snapshot.ts"
import { selectMachines } from "./change-snapshots.ts"
import { SnapshotReader } from "./snapshot-reader.ts"

/** Concurrent reads of machines' snapshots. */
const readsAtOnce = 4

/** The items of a list of numbers, separated from items that are not numbers. */
const numbersIn = (text: string | undefined) => {
  const items = commaList(text ?? "")
  const isNumber = (item: string): boolean => /^\d{1,9}$/u.test(item)
  return { numbers: items.filter(isNumber), others: items.filter((item) => !isNumber(item)) }
}

/**
 * The snapshots of machines of a range as they were last read; machines that were never read, and with `refresh` all of them, are read now.
 * `vmids`: a comma-separated list; empty means all.
 */
export const knownSnapshots = (
  range: Range,
  vmids: string | undefined,
  refresh: boolean,
): Effect.Effect<KnownSnapshots, Fault, Machines | SnapshotReader> =>
  Effect.gen(function* () {
    const reader = yield* SnapshotReader
    const machineStore = yield* Machines
    const { numbers, others } = numbersIn(vmids)
    // a list without any number selects no machine, and not all of them
    const { machines, refused } =
      others.length > 0 && numbers.length === 0 ? { machines: [], refused: [] } : yield* selectMachines(range, numbers)
    const known: ReadonlyMap<Vmid, KeptSnapshots> = refresh ? new Map() : yield* machineStore.snapshots(range.id)
    const read = yield* Effect.forEach(
      machines,
      (machine) =>
        Effect.suspend(() => {
          const kept = known.get(machine.vmid)
          return kept === undefined ? reader.read(machine) : Effect.succeed(kept)
        }).pipe(
          Effect.result,
          Effect.map((result) => ({ machine, result })),
        ),
      { concurrency: readsAtOnce },
    )
    const trees = read.flatMap(({ machine, result }) => (Result.isSuccess(result) ? [{ machine, tree: result.success }] : []))
    const errors = [
      ...others.map((item) => ({ error: `${JSON.stringify(item.slice(0, 50))} is not a VMID` })),
      ...refused,
      ...read.flatMap(({ machine, result }) =>
        Result.isFailure(result) ? [{ ...named(machine), error: reasonOf(result.failure) }] : [],
      ),
    ]
    return { trees, ...(errors.length === 0 ? {} : { errors }) }
  })

export interface KnownSnapshots {
  readonly trees: readonly KnownTree[]
  /** Machines whose snapshots are not known, and why. */
  readonly errors?: readonly (typeof SnapshotError.Type)[]
}
interface KnownTree {
  readonly machine: RangeMachine
  readonly tree: KeptSnapshots
}

/** The time of the oldest read. */
export const observedAtOf = (trees: readonly KnownTree[]): string =>
  new Date(Math.min(...trees.map(({ tree }) => tree.readAt.getTime()))).toISOString()

/** The list of snapshots for clients. */
export const listSnapshots = (...asked: Parameters<typeof knownSnapshots>) =>
  Effect.map(knownSnapshots(...asked), ({ trees, ...rest }): typeof SnapshotList.Type => {
    const snapshots = trees.flatMap(({ machine, tree }) => snapshotInfos(machine, tree))
    return { ...(snapshots.length === 0 ? {} : { snapshots, observedAt: observedAtOf(trees) }), ...rest }
  })
