import { isToldSince, type ObservedCluster } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { type Selectable, sql } from "kysely"
import type { Transaction } from "../engine/transaction.ts"
import { machines, observation } from "../records/machine.ts"
import type { Tables } from "../schema/tables.ts"

type MachineRow = Selectable<Tables["machines"]>

/** Rows written by one statement: well below SQLite's parameter limit. */
const chunkSize = 200
const chunksOf = <A>(all: readonly A[]): readonly (readonly A[])[] =>
  Array.from({ length: Math.ceil(all.length / chunkSize) }, (_, i) => all.slice(i * chunkSize, (i + 1) * chunkSize))

/** Whether the stored row is the same; engines return numbers and booleans differently. */
const saysTheSame = (row: MachineRow, stored: MachineRow): boolean => {
  const kept: Readonly<Record<string, unknown>> = stored
  return Object.entries(row).every(([column, value]) =>
    typeof value === "string" || value === null ? kept[column] === value : Number(kept[column]) === Number(value),
  )
}

/** All inserted columns except the pool: its index is written whenever the pool is, even with the same value. */
const exceptPool = ([row]: readonly MachineRow[]) =>
  Object.fromEntries(
    Object.keys(row ?? {}).flatMap((column) => (column === "pool" ? [] : [[column, sql.ref(`excluded.${column}`)]])),
  )

/** VMIDs in ranges' pools, and those with stages: kept until they are proven to be gone. */
const oursOf = (tx: Transaction) =>
  Effect.gen(function* () {
    const inRanges = yield* tx((db) =>
      db.selectFrom("machines").innerJoin("ranges", "ranges.id", "machines.pool").select("machines.vmid").execute(),
    )
    const withStages = yield* tx((db) => db.selectFrom("machine_stages").select("vmid").distinct().execute())
    return new Set([...inRanges, ...withStages].map(({ vmid }) => vmid))
  })

/**
 * Writes only differences, so that an observation without news changes no row and leaves the revision alone. What was recorded or forgotten
 * after the observation began stays as it is.
 */
export const replaceMachines = (tx: Transaction, cluster: ObservedCluster) =>
  Effect.gen(function* () {
    const at = cluster.at.getTime()
    const stored = new Map((yield* tx((db) => db.selectFrom("machines").selectAll().execute())).map((row) => [row.vmid, row]))
    const left = yield* tx((db) => db.selectFrom("departed_machines").selectAll().execute())
    const departed = new Set(left.filter((row) => isToldSince(Number(row.at), at)).map((row) => row.vmid))
    const back = left.filter((row) => !departed.has(row.vmid)).map((row) => row.vmid)
    for (const vmids of chunksOf(back)) yield* tx((db) => db.deleteFrom("departed_machines").where("vmid", "in", vmids).execute())

    const changed: MachineRow[] = []
    const seen = new Set<number>()
    for (const machine of cluster.machines) {
      const before = stored.get(machine.vmid)
      if (departed.has(machine.vmid) || seen.has(machine.vmid)) continue
      seen.add(machine.vmid)
      if (before !== undefined && isToldSince(Number(before.recorded_at), at)) continue
      const row = machines.write({ ...machine, foreignAddresses: [], recordedAt: new Date(0), missingSince: undefined })
      // reported by guests, not part of an observation
      const { address = null, activation = null, foreign_addresses = row.foreign_addresses } = before ?? {}
      const named = { ...row, address, activation, foreign_addresses, name: row.name ?? before?.name ?? null }
      if (before === undefined || !saysTheSame(named, before)) changed.push(named)
    }
    const unseen = [...stored.values()].filter((row) => !seen.has(row.vmid) && !isToldSince(Number(row.recorded_at), at))
    const ours = unseen.length === 0 ? new Set<number>() : yield* oursOf(tx)
    const gone = unseen.filter((row) => !ours.has(row.vmid)).map((row) => row.vmid)
    const missed = unseen.filter((row) => ours.has(row.vmid) && row.missing_since === null).map((row) => row.vmid)

    const moved = changed.filter((row) => stored.get(row.vmid)?.pool !== row.pool)
    for (const rows of chunksOf([...gone, ...moved.map((row) => row.vmid)]))
      yield* tx((db) => db.deleteFrom("machines").where("vmid", "in", rows).execute())
    for (const rows of chunksOf(changed))
      yield* tx((db) =>
        db
          .insertInto("machines")
          .values(rows)
          .onConflict((conflict) => conflict.column("vmid").doUpdateSet(exceptPool(rows)))
          .execute(),
      )
    for (const rows of chunksOf(missed))
      yield* tx((db) => db.updateTable("machines").set({ missing_since: at }).where("vmid", "in", rows).execute())
    const { nodes, storages } = cluster
    yield* tx((db) =>
      db
        .updateTable("observation")
        .set(
          observation.write({
            observedAt: cluster.at,
            cluster: { nodes, storages },
            awaySince: undefined,
            awayReason: undefined,
          }),
        )
        .where("id", "=", 1)
        .execute(),
    )
  })
