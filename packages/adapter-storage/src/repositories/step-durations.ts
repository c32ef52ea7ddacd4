import { isOwnWork, learnedFrom } from "@rangewright/domain"
import { mostDurations, mostOwnDurations, StepDurations } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../engine/database.ts"
import type { Transaction } from "../engine/transaction.ts"
import { stepDurations } from "../records/run.ts"

/** The owner of everybody's work. */
const everybody = ""

const readKnown = stepDurations.reader({ only: ["name", "seconds"] })
const readDuration = stepDurations.reader({ only: ["name", "seconds", "count"] })

/** More are never stored, so this means all. */
const all = 2 * mostDurations

/** Merges the lessons with what is known of the owner's work, and forgets what is too much. */
const learn = Effect.fnUntraced(function* (
  tx: Transaction,
  { readable }: Database["Service"],
  owner: string,
  lessons: readonly (readonly [string, number])[],
  most: number,
) {
  const taught = lessons.slice(-most)
  const rows = yield* tx((db) =>
    db
      .selectFrom("step_durations")
      .selectAll()
      .where("owner", "=", owner)
      .where(
        "name",
        "in",
        taught.map(([name]) => name),
      )
      .execute(),
  )
  const known = new Map((yield* readable(rows, readDuration)).map((row) => [row.name, row]))
  const learnedAt = new Date(yield* Clock.currentTimeMillis)
  const values = taught.map(([name, seconds]) =>
    stepDurations.write({ owner, name, ...learnedFrom(known.get(name), seconds), learnedAt }),
  )
  yield* tx((db) =>
    db
      .insertInto("step_durations")
      .values(values)
      .onConflict((there) =>
        there.columns(["owner", "name"]).doUpdateSet(({ ref }) => ({
          seconds: ref("excluded.seconds"),
          count: ref("excluded.count"),
          learned_at: ref("excluded.learned_at"),
        })),
      )
      .execute(),
  )
  const tooMany = yield* tx((db) =>
    db
      .selectFrom("step_durations")
      .select("name")
      .where("owner", "=", owner)
      .orderBy("learned_at", "desc")
      .limit(all)
      .offset(most)
      .execute(),
  )
  if (tooMany.length === 0) return
  const names = tooMany.map(({ name }) => name)
  yield* tx((db) => db.deleteFrom("step_durations").where("owner", "=", owner).where("name", "in", names).execute())
})

export const stepDurationsLayer: Layer.Layer<StepDurations, never, Database> = Layer.effect(
  StepDurations,
  Effect.gen(function* () {
    const database = yield* Database
    const known = database.list(
      "read how long work takes",
      `select name, seconds from step_durations where owner in ('${everybody}', ?)`,
      readKnown,
    )
    return {
      known: (userId) => Effect.map(known(userId), (rows) => new Map(rows.map(({ name, seconds }) => [name, seconds]))),
      learn: (userId, lessons) => {
        const own = [...lessons].filter(([name]) => isOwnWork(name))
        const shared = [...lessons].filter(([name]) => !isOwnWork(name))
        if (lessons.size === 0) return Effect.void
        // serialized like the removal of users: nothing is stored for one who is being removed
        return database.serializedWrite("store how long work took", (tx) =>
          Effect.gen(function* () {
            if (shared.length > 0) yield* learn(tx, database, everybody, shared, mostDurations)
            if (own.length === 0) return
            const user = yield* tx((db) => db.selectFrom("users").select("id").where("id", "=", userId).executeTakeFirst())
            if (user !== undefined) yield* learn(tx, database, userId, own, mostOwnDurations)
          }),
        )
      },
    }
  }),
)
