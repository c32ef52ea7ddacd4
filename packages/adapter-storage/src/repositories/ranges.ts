import { RangeNotFound, type RangeId, type UserId, UserNotFound } from "@rangewright/domain"
import { type RangeChange, Ranges, type RangeOverview, StaleVersion } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Insertable } from "kysely"
import { Database, type Transaction } from "../engine/database.ts"
import type { Tables } from "../engine/orm.ts"
import { fromStorable, toStorable } from "../engine/storable-text.ts"
import { toDate, toRange } from "../schema/rows.ts"
import { createRange } from "./create-range.ts"
import { inOrder } from "./in-order.ts"
import { rangeReads } from "./range-reads.ts"

const changedColumns = (change: RangeChange): Partial<Insertable<Tables["ranges"]>> => ({
  ...(change.name === undefined ? {} : { name: change.name }),
  ...(change.description === undefined ? {} : { description: change.description }),
  ...(change.purpose === undefined ? {} : { purpose: change.purpose }),
  ...("autoShutdown" in change ? { auto_shutdown: change.autoShutdown ?? null } : {}),
  ...(change.testing === undefined
    ? {}
    : {
        testing_enabled: change.testing.enabled,
        allowed_domains: JSON.stringify(change.testing.allowedDomains),
        allowed_ips: JSON.stringify(change.testing.allowedIps),
      }),
})

/** Fails unless both are there; holds them until the end of the transaction. */
const refuseStrangers = (tx: Transaction, id: RangeId, userId: UserId) =>
  Effect.gen(function* () {
    const range = yield* tx((db) => db.selectFrom("ranges").select("id").where("id", "=", id).executeTakeFirst())
    if (range === undefined) return yield* new RangeNotFound({ rangeId: id })
    const user = yield* tx((db) => db.selectFrom("users").select("id").where("id", "=", userId).executeTakeFirst())
    if (user === undefined) return yield* new UserNotFound({ userId })
  })

const textOf = (content: Uint8Array): string => fromStorable(Buffer.from(content).toString("utf8"))

export const rangesLayer: Layer.Layer<Ranges, never, Database> = Layer.effect(
  Ranges,
  Effect.gen(function* () {
    const database = yield* Database
    const reads = rangeReads(database)

    return {
      find: reads.find,
      findByRecordId: reads.findByRecordId,
      list: (filter = {}) => reads.list(filter),
      overview: (filter) =>
        Effect.gen(function* () {
          const ranges = yield* reads.list(filter)
          const machines = yield* reads.machinesByRange(filter)
          return ranges.map((range): RangeOverview => ({ range, machines: machines.get(range.id) ?? [] }))
        }),
      revision: reads.revision,
      create: (range) => database.writeAlone(`create range ${range.id}`, (tx) => createRange(tx, range)),
      change: (id, change, expectedVersion) =>
        database.writeAlone(`change range ${id}`, (tx) =>
          Effect.gen(function* () {
            const updated_at = yield* Clock.currentTimeMillis
            const changed = yield* tx((db) => {
              const update = db
                .updateTable("ranges")
                .set((column) => ({ ...changedColumns(change), updated_at, version: column("version", "+", 1) }))
                .where("id", "=", id)
              const guarded = expectedVersion === undefined ? update : update.where("version", "=", expectedVersion)
              return guarded.returningAll().executeTakeFirst()
            })
            if (changed !== undefined) return toRange(changed)
            const there = yield* tx((db) => db.selectFrom("ranges").select("id").where("id", "=", id).executeTakeFirst())
            if (there === undefined) return yield* new RangeNotFound({ rangeId: id })
            return yield* new StaleVersion({ what: `range ${id}` })
          }),
        ),
      remove: (id) =>
        database.writeAlone(`remove range ${id}`, (tx) =>
          Effect.gen(function* () {
            const { numDeletedRows } = yield* tx((db) => db.deleteFrom("ranges").where("id", "=", id).executeTakeFirst())
            if (numDeletedRows > 0n) yield* tx((db) => db.deleteFrom("machines").where("pool", "=", id).execute())
          }),
        ),
      config: (id) =>
        Effect.map(reads.config(id), ([row]) =>
          row === undefined ? undefined : { text: textOf(row.content), updatedAt: toDate(row.updated_at) },
        ),
      deployedConfig: (id) => Effect.map(reads.deployedConfig(id), ([row]) => row && textOf(row.content)),
      setConfig: (id, text) =>
        database.writeAlone(`save the configuration of range ${id}`, (tx) =>
          Effect.gen(function* () {
            const updated_at = yield* Clock.currentTimeMillis
            const { numUpdatedRows } = yield* tx((db) =>
              db
                .updateTable("range_configs")
                .set({ content: Buffer.from(toStorable(text)), updated_at })
                .where("range_id", "=", id)
                .executeTakeFirst(),
            )
            if (numUpdatedRows === 0n) return yield* new RangeNotFound({ rangeId: id })
          }),
        ),
      grants: reads.grants,
      grantsOf: reads.grantsOf,
      grant: (id, userId) =>
        database.writeAlone(`share range ${id} with ${userId}`, (tx) =>
          Effect.gen(function* () {
            yield* refuseStrangers(tx, id, userId)
            const { numInsertedOrUpdatedRows } = yield* tx((db) =>
              db
                .insertInto("range_grants")
                .values({ range_id: id, user_id: userId })
                .onConflict((conflict) => conflict.doNothing())
                .executeTakeFirst(),
            )
            return (numInsertedOrUpdatedRows ?? 0n) > 0n
          }),
        ),
      revoke: (id, userId) =>
        database.writeAlone(`take range ${id} from ${userId}`, (tx) =>
          Effect.map(
            tx((db) => db.deleteFrom("range_grants").where("range_id", "=", id).where("user_id", "=", userId).executeTakeFirst()),
            ({ numDeletedRows }) => numDeletedRows > 0n,
          ),
        ),
      touch: (stamps) =>
        database.writeAlone("stamp the activity of ranges", (tx) =>
          Effect.forEach(
            inOrder(stamps),
            ([id, at]) =>
              tx((db) =>
                db
                  .updateTable("ranges")
                  .set({ last_active_at: at.getTime() })
                  .where("id", "=", id)
                  .where((where) => where.or([where("last_active_at", "is", null), where("last_active_at", "<", at.getTime())]))
                  .execute(),
              ),
            { discard: true },
          ),
        ),
    }
  }),
)
