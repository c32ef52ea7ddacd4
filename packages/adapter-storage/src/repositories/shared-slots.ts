import { isLeaseInForce, type RunId, type RunStanding, shareSlots, type SlotLedger } from "@rangewright/domain"
import { SharedSlots } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../engine/database.ts"
import type { Transaction } from "../engine/transaction.ts"
import { slotLedgers } from "../records/installation.ts"

const readLedger = slotLedgers.reader()

/** Locks the ledgers until the end of the transaction, always in the same order, so that no two processes deadlock. */
const lockLedgers = (tx: Transaction, resources: readonly string[]) =>
  tx((db) =>
    db
      .insertInto("slot_ledgers")
      .values(resources.toSorted().map((resource) => ({ resource, ledger: "" })))
      .onConflict((there) => there.column("resource").doUpdateSet(({ ref }) => ({ ledger: ref("slot_ledgers.ledger") })))
      .returningAll()
      .execute(),
  )

const keepLedgers = (tx: Transaction, ledgers: ReadonlyMap<string, SlotLedger>) =>
  tx((db) =>
    db
      .insertInto("slot_ledgers")
      .values([...ledgers].map(([resource, ledger]) => ({ resource, ledger: JSON.stringify(ledger) })))
      .onConflict((there) => there.column("resource").doUpdateSet(({ ref }) => ({ ledger: ref("excluded.ledger") })))
      .execute(),
  )

/** Undefined on SQLite, which belongs to one process. */
export const sharedSlotsLayer: Layer.Layer<never, never, Database> = Layer.effect(
  SharedSlots,
  Effect.gen(function* () {
    const database = yield* Database
    if (database.engine === "sqlite") return undefined
    return {
      share: (queues, leaseSeconds) =>
        database.write("share limited resources", (tx) =>
          Effect.gen(function* () {
            const held = yield* lockLedgers(
              tx,
              queues.map(({ resource }) => resource),
            )
            const now = yield* database.steadyMillis(tx)
            const running = yield* tx((db) =>
              db.selectFrom("runs").select(["id", "generation", "lease_until"]).where("status", "=", "running").execute(),
            )
            const standings = new Map(
              running.map(({ id, generation, lease_until }): [string, RunStanding] => [
                id,
                { generation, inForce: lease_until !== null && isLeaseInForce(Number(lease_until), now, leaseSeconds) },
              ]),
            )
            const stored = yield* database.readable(
              held.filter(({ ledger }) => ledger !== ""),
              readLedger,
            )
            const ledgers = new Map(stored.map(({ resource, ledger }): [string, SlotLedger] => [resource, ledger]))
            const answers = shareSlots(ledgers, queues, (run: RunId) => standings.get(run))
            yield* keepLedgers(tx, ledgers)
            return answers
          }),
        ),
    }
  }),
)
