import { isLeaseInForce } from "@rangewright/domain"
import type { RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Database } from "../engine/database.ts"
import { lockRun } from "./run-writes.ts"

type Leases = Pick<RunJournal["Service"], "claim" | "renew" | "release">

/** Leases are columns of the runs. */
export const leasesIn = (database: Database["Service"]): Leases => ({
  claim: (runId, owner, seconds) =>
    database.write(`claim run ${runId}`, (tx) =>
      Effect.gen(function* () {
        const run = yield* lockRun(tx, runId)
        if (run?.status !== "running") return undefined
        const now = yield* database.steadyMillis(tx)
        const others = run.lease_owner !== null && run.lease_owner !== owner
        // once the clock was set, leases say nothing until every living worker has renewed its own
        const mayLive = database.steadyFor() < seconds * 1000 || isLeaseInForce(Number(run.lease_until), now, seconds)
        if (others && mayLive) return undefined
        const generation = run.generation + 1
        const lease = { generation, lease_owner: owner, lease_until: now + seconds * 1000 }
        yield* tx((db) => db.updateTable("runs").set(lease).where("id", "=", runId).execute())
        return generation
      }),
    ),
  renew: (runId, generation, seconds) =>
    database.write(`renew the lease of run ${runId}`, (tx) =>
      Effect.gen(function* () {
        const lease_until = (yield* database.steadyMillis(tx)) + seconds * 1000
        const { numUpdatedRows } = yield* tx((db) =>
          db
            .updateTable("runs")
            .set({ lease_until })
            .where("id", "=", runId)
            .where("generation", "=", generation)
            .where("status", "=", "running")
            .where("lease_owner", "is not", null)
            .executeTakeFirst(),
        )
        return numUpdatedRows > 0n
      }),
    ),
  release: (runId, generation) =>
    database.write(`release run ${runId}`, (tx) =>
      Effect.asVoid(
        tx((db) =>
          db
            .updateTable("runs")
            .set({ lease_owner: null, lease_until: null })
            .where("id", "=", runId)
            .where("generation", "=", generation)
            .execute(),
        ),
      ),
    ),
})
