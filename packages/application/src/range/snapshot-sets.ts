import type { Fault, Range } from "@rangewright/domain"
import type { Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { named, type SnapshotSet, type SnapshotSets } from "../wire/snapshot.ts"
import { type KnownSnapshots, knownSnapshots, observedAtOf } from "./list-snapshots.ts"
import type { SnapshotReader } from "./snapshot-reader.ts"

/** The set of all snapshots with one name. */
const setOf = (name: string, { trees, errors = [] }: KnownSnapshots): typeof SnapshotSet.Type => {
  const found = trees.map(({ machine, tree }) => ({ machine, snapshot: tree.snapshots.find((one) => one.name === name) }))
  const machines = found.flatMap(({ machine, snapshot }) =>
    snapshot === undefined
      ? []
      : [
          {
            ...named(machine),
            snaptime: snapshot.takenAt,
            includesRAM: snapshot.memory,
            ...(snapshot.incomplete ? { incomplete: true } : {}),
          },
        ],
  )
  const missing = found.flatMap(({ machine, snapshot }) => (snapshot === undefined ? [named(machine)] : []))
  const times = machines.map(({ snaptime }) => snaptime)
  return {
    name,
    complete: missing.length === 0 && errors.length === 0 && !machines.some(({ incomplete }) => incomplete === true),
    includesRAM: machines.some(({ includesRAM }) => includesRAM),
    oldest: Math.min(...times),
    newest: Math.max(...times),
    machines,
    missing,
  }
}

/** The snapshot sets of a range, newest first. */
export const snapshotSets = (
  range: Range,
  refresh: boolean,
): Effect.Effect<typeof SnapshotSets.Type, Fault, Machines | SnapshotReader> =>
  Effect.map(knownSnapshots(range, undefined, refresh), (known) => {
    const names = new Set(known.trees.flatMap(({ tree }) => tree.snapshots.map(({ name }) => name)))
    const sets = [...names].map((name) => setOf(name, known))
    return {
      sets: sets.toSorted((a, b) => b.newest - a.newest || (a.name < b.name ? -1 : 1)),
      ...(known.errors === undefined ? {} : { errors: known.errors }),
      ...(known.trees.length === 0 ? {} : { observedAt: observedAtOf(known.trees) }),
    }
  })
