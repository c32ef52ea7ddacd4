import { allocateVmids, type Exhausted, type RangeId, type RangeNotFound, type Span, type Vmid } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import type { QueryFailed, Transaction } from "../engine/transaction.ts"
import { requireRange } from "./require.ts"

/** Reserves VMIDs for machines that have none; no two reservations of any ranges share one. */
const give = (tx: Transaction, rangeId: RangeId, machines: readonly string[], taken: ReadonlySet<number>, span: Span) =>
  Effect.gen(function* () {
    const rows = yield* tx((db) => db.selectFrom("vmid_reservations").select("vmid").execute())
    const reserved = new Set<number>(rows.map((row) => row.vmid))
    const given = yield* Effect.fromResult(allocateVmids(machines, span, { has: (n) => taken.has(n) || reserved.has(n) }))
    if (given.size > 0)
      yield* tx((db) =>
        db
          .insertInto("vmid_reservations")
          .values([...given].map(([machine, vmid]) => ({ range_id: rangeId, machine, vmid })))
          .onConflict((conflict) =>
            conflict.columns(["range_id", "machine"]).doUpdateSet((query) => ({ vmid: query.ref("excluded.vmid") })),
          )
          .execute(),
      )
    return given
  })

export const reserveVmids = (
  tx: Transaction,
  rangeId: RangeId,
  machines: readonly string[],
  taken: ReadonlySet<number>,
  span: Span,
): Effect.Effect<ReadonlyMap<string, Vmid>, Exhausted | RangeNotFound | QueryFailed> =>
  Effect.gen(function* () {
    yield* requireRange(tx, rangeId)
    const rows = yield* tx((db) =>
      db.selectFrom("vmid_reservations").select(["machine", "vmid"]).where("range_id", "=", rangeId).execute(),
    )
    const kept = new Map(rows.map((row) => [row.machine, row.vmid]))
    const missing = machines.filter((machine) => !kept.has(machine))
    const given = yield* give(tx, rangeId, missing, taken, span)
    return new Map([...kept, ...given].filter(([machine]) => machines.includes(machine)))
  })

export const replaceVmid = (
  tx: Transaction,
  rangeId: RangeId,
  machine: string,
  taken: ReadonlySet<number>,
  span: Span,
): Effect.Effect<Vmid, Exhausted | RangeNotFound | QueryFailed> =>
  Effect.gen(function* () {
    yield* requireRange(tx, rangeId)
    const [vmid] = [...(yield* give(tx, rangeId, [machine], taken, span)).values()]
    // one machine was requested, so either one VMID was given or `give` has failed
    return vmid ?? (yield* Effect.die(new Error(`no VMID was given to ${machine}`)))
  })

export const releaseVmids = (tx: Transaction, rangeId: RangeId, machines: readonly string[]) =>
  machines.length === 0
    ? Effect.void
    : Effect.asVoid(
        tx((db) => db.deleteFrom("vmid_reservations").where("range_id", "=", rangeId).where("machine", "in", machines).execute()),
      )
