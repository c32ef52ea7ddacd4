import type { RangeId, Vmid } from "@rangewright/domain"
import { isReadBefore, type KeptSnapshots, type SnapshotRef } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { QueryFailed, Transaction } from "../engine/transaction.ts"
import { machineSnapshots } from "../records/machine.ts"

/** Replaces the snapshots of a machine, and forgets the stages of those that are gone. */
export const keepSnapshots = (
  tx: Transaction,
  rangeId: RangeId,
  vmid: Vmid,
  { readAt, snapshots, current }: KeptSnapshots,
): Effect.Effect<void, QueryFailed> =>
  Effect.gen(function* () {
    const before = yield* tx((db) =>
      db
        .selectFrom("machine_snapshots")
        .select("read_at")
        .where("range_id", "=", rangeId)
        .where("vmid", "=", vmid)
        .executeTakeFirst(),
    )
    if (before !== undefined && isReadBefore(readAt, new Date(Number(before.read_at)))) return
    const row = machineSnapshots.write({ rangeId, vmid, readAt, snapshots, current })
    const { range_id: _range, vmid: _vmid, ...told } = row
    yield* tx((db) =>
      db
        .insertInto("machine_snapshots")
        .values(row)
        .onConflict((conflict) => conflict.columns(["range_id", "vmid"]).doUpdateSet(told))
        .execute(),
    )
    const kept = yield* tx((db) =>
      db
        .selectFrom("snapshot_stages")
        .select(["snapshot", "taken_at"])
        .distinct()
        .where("range_id", "=", rangeId)
        .where("vmid", "=", vmid)
        .execute(),
    )
    for (const { snapshot, taken_at: takenAt } of kept)
      if (!snapshots.some((one) => one.name === snapshot && one.takenAt === Number(takenAt)))
        yield* dropStages(tx, rangeId, vmid, { name: snapshot, takenAt: Number(takenAt) })
  })

const dropStages = (tx: Transaction, rangeId: RangeId, vmid: Vmid, { name, takenAt }: SnapshotRef) =>
  tx((db) =>
    db
      .deleteFrom("snapshot_stages")
      .where("range_id", "=", rangeId)
      .where("vmid", "=", vmid)
      .where("snapshot", "=", name)
      .where("taken_at", "=", takenAt)
      .execute(),
  )

/** Stores the machine's recorded stages with one of its snapshots. */
export const keepStages = (
  tx: Transaction,
  rangeId: RangeId,
  vmid: Vmid,
  { name, takenAt }: SnapshotRef,
): Effect.Effect<void, QueryFailed> =>
  Effect.gen(function* () {
    yield* dropStages(tx, rangeId, vmid, { name, takenAt })
    yield* tx((db) =>
      db
        .insertInto("snapshot_stages")
        .columns(["range_id", "vmid", "snapshot", "taken_at", "step_key", "fingerprint"])
        .expression((one) =>
          one
            .selectFrom("machine_stages")
            .select((column) => [
              "range_id",
              "vmid",
              column.val(name).as("snapshot"),
              column.cast<number>(column.val(takenAt), "bigint").as("taken_at"),
              "step_key",
              "fingerprint",
            ])
            .where("range_id", "=", rangeId)
            .where("vmid", "=", vmid),
        )
        .execute(),
    )
  })

/** Replaces the machine's recorded stages with those stored with a snapshot. */
export const recallStages = (
  tx: Transaction,
  rangeId: RangeId,
  vmid: Vmid,
  { name, takenAt }: SnapshotRef,
): Effect.Effect<void, QueryFailed> =>
  Effect.gen(function* () {
    yield* tx((db) => db.deleteFrom("machine_stages").where("range_id", "=", rangeId).where("vmid", "=", vmid).execute())
    yield* tx((db) =>
      db
        .insertInto("machine_stages")
        .columns(["range_id", "vmid", "step_key", "fingerprint"])
        .expression((one) =>
          one
            .selectFrom("snapshot_stages")
            .select(["range_id", "vmid", "step_key", "fingerprint"])
            .where("range_id", "=", rangeId)
            .where("vmid", "=", vmid)
            .where("snapshot", "=", name)
            .where("taken_at", "=", takenAt),
        )
        .execute(),
    )
  })
