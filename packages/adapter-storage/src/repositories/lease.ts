import { Lease } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../engine/database.ts"
import { readRunForWriting } from "./run-writes.ts"

const until = (now: Date, seconds: number): number => now.getTime() + seconds * 1000

export const leaseLayer: Layer.Layer<Lease, never, Database> = Layer.effect(
  Lease,
  Effect.gen(function* () {
    const database = yield* Database
    return {
      claim: (runId, owner, now, seconds) =>
        database.write(`claim run ${runId}`, (tx) =>
          Effect.gen(function* () {
            const run = yield* readRunForWriting(tx, runId)
            if (run?.status !== "running") return undefined
            const inForce = run.lease_owner !== null && Number(run.lease_until) > now.getTime()
            if (inForce && run.lease_owner !== owner) return undefined
            const generation = run.generation + 1
            const lease = { generation, lease_owner: owner, lease_until: until(now, seconds) }
            yield* tx((db) => db.updateTable("runs").set(lease).where("id", "=", runId).execute())
            return generation
          }),
        ),
      renew: (runId, generation, now, seconds) =>
        database.write(`renew the lease of run ${runId}`, (tx) =>
          Effect.map(
            tx((db) =>
              db
                .updateTable("runs")
                .set({ lease_until: until(now, seconds) })
                .where("id", "=", runId)
                .where("generation", "=", generation)
                .where("status", "=", "running")
                .where("lease_owner", "is not", null)
                .executeTakeFirst(),
            ),
            ({ numUpdatedRows }) => numUpdatedRows > 0n,
          ),
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
    }
  }),
)
