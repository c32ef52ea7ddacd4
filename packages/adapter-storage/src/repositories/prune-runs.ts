import * as Effect from "effect/Effect"
import { sql } from "kysely"
import type { Transaction } from "../engine/transaction.ts"

/** Deletes all but the newest `keep` finished runs of each kind and subject, with their journals; returns how many. */
export const pruneRuns = (tx: Transaction, keep: number) =>
  Effect.gen(function* () {
    const old = yield* tx(async (db) => {
      const age = sql<number>`row_number() over (partition by subject, kind order by ordinal desc)`.as("age")
      const finished = db.selectFrom("runs").select(["id", age]).where("busy_subject", "is", null).as("finished")
      return db.selectFrom(finished).select("id").where("age", ">", keep).execute()
    })
    for (const { id } of old) yield* tx((db) => db.deleteFrom("runs").where("id", "=", id).execute())
    return old.length
  })
