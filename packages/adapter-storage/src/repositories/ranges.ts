import { type Picture, type RangeId, RangeNotFound, setBackBy } from "@rangewright/domain"
import { type KeptInspection, Ranges } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../engine/database.ts"
import type { Transaction } from "../engine/transaction.ts"
import { toStorable } from "../engine/storable-text.ts"
import { fromRange, rangeThumbnails, routerInspections, toRange } from "../records/range.ts"
import { first, type StoredRow } from "../schema/table.ts"
import { createRange } from "./create-range.ts"
import { inOrder } from "./in-order.ts"
import { rangeReads } from "./range-reads.ts"
import { requireRangeConfig } from "./require-config.ts"
import { requireRange, requireUser } from "./require.ts"

const readInspection = routerInspections.reader({ without: ["rangeId"] })
const toInspection = (row: StoredRow): KeptInspection => {
  const { at, found } = readInspection(row)
  return { ...found, at }
}

/** Replaces the picture; undefined removes it. */
const setPicture = (tx: Transaction, rangeId: RangeId, picture: Picture | undefined) =>
  Effect.gen(function* () {
    yield* tx((db) => db.deleteFrom("range_thumbnails").where("range_id", "=", rangeId).execute())
    if (picture === undefined) return
    const row = rangeThumbnails.write({ rangeId, type: picture.type, content: Buffer.from(picture.bytes) })
    yield* tx((db) => db.insertInto("range_thumbnails").values(row).execute())
  })

export const rangesLayer: Layer.Layer<Ranges, never, Database> = Layer.effect(
  Ranges,
  Effect.gen(function* () {
    const database = yield* Database
    return {
      ...rangeReads(database),
      create: (range) => database.serializedWrite(`create range ${range.id}`, (tx) => createRange(tx, range)),
      change: (id, change) =>
        database.serializedWrite(`change range ${id}`, (tx) =>
          Effect.gen(function* () {
            const { thumbnail, ...said } = change
            const columns = fromRange("thumbnail" in change ? { ...said, thumbnail: thumbnail?.name } : said)
            const updated_at = yield* Clock.currentTimeMillis
            const changed = yield* tx((db) =>
              db
                .updateTable("ranges")
                .set({ ...columns, updated_at })
                .where("id", "=", id)
                .returningAll()
                .execute()
                .then(first(toRange)),
            )
            if (changed === undefined) return yield* new RangeNotFound({ rangeId: id })
            if ("thumbnail" in change) yield* setPicture(tx, id, thumbnail)
            return changed
          }),
        ),
      stayOn: (id, until) =>
        database.serializedWrite(`keep range ${id} on`, (tx) =>
          Effect.gen(function* () {
            const updated_at = yield* Clock.currentTimeMillis
            const stay_on_until = until.getTime()
            yield* tx((db) =>
              db
                .updateTable("ranges")
                .set({ stay_on_until, updated_at })
                .where("id", "=", id)
                .where((where) =>
                  where.or([
                    where("stay_on_until", "is", null),
                    where("stay_on_until", "<", stay_on_until),
                    where("stay_on_until", ">", stay_on_until + setBackBy.stayOn),
                  ]),
                )
                .execute(),
            )
            const kept = yield* tx((db) =>
              db.selectFrom("ranges").selectAll().where("id", "=", id).execute().then(first(toRange)),
            )
            return kept ?? (yield* new RangeNotFound({ rangeId: id }))
          }),
        ),
      remove: (id) =>
        database.serializedWrite(`remove range ${id}`, (tx) =>
          Effect.gen(function* () {
            const { numDeletedRows } = yield* tx((db) => db.deleteFrom("ranges").where("id", "=", id).executeTakeFirst())
            if (numDeletedRows > 0n) yield* tx((db) => db.deleteFrom("machines").where("pool", "=", id).execute())
          }),
        ),
      inspection: (id) =>
        database.read(`read the inspection of the router of range ${id}`, (db) =>
          db.selectFrom("router_inspections").selectAll().where("range_id", "=", id).execute().then(first(toInspection)),
        ),
      keepInspection: (id, { at, ...found }) =>
        database.serializedWrite(`store the inspection of the router of range ${id}`, (tx) =>
          Effect.gen(function* () {
            const range = yield* tx((db) =>
              db.selectFrom("ranges").select("testing_mode").where("id", "=", id).executeTakeFirst(),
            )
            if (range === undefined) return false
            yield* tx((db) => db.deleteFrom("router_inspections").where("range_id", "=", id).execute())
            yield* tx((db) =>
              db
                .insertInto("router_inspections")
                .values(routerInspections.write({ rangeId: id, at, found }))
                .execute(),
            )
            if (found.rules === "as-loaded" || range.testing_mode !== "on") return false
            const updated_at = yield* Clock.currentTimeMillis
            yield* tx((db) =>
              db.updateTable("ranges").set({ testing_mode: "entering", updated_at }).where("id", "=", id).execute(),
            )
            return true
          }),
        ),
      setConfig: (id, text, { by, replaces } = {}) =>
        database.serializedWrite(`save the configuration of range ${id}`, (tx) =>
          Effect.gen(function* () {
            if (replaces !== undefined) yield* requireRangeConfig(tx, id, replaces)
            const updated_at = yield* Clock.currentTimeMillis
            const { numUpdatedRows } = yield* tx((db) =>
              db
                .updateTable("range_configs")
                .set({ content: Buffer.from(toStorable(text)), updated_at, updated_by: by ?? null })
                .where("range_id", "=", id)
                .executeTakeFirst(),
            )
            if (numUpdatedRows === 0n) return yield* new RangeNotFound({ rangeId: id })
          }),
        ),
      grant: (id, userId) =>
        database.serializedWrite(`share range ${id} with ${userId}`, (tx) =>
          Effect.gen(function* () {
            yield* requireRange(tx, id)
            yield* requireUser(tx, userId)
            const { numInsertedOrUpdatedRows } = yield* tx((db) =>
              db
                .insertInto("range_grants")
                .values({ range_id: id, user_id: userId })
                .onConflict((conflict) => conflict.doNothing())
                .executeTakeFirst(),
            )
            yield* tx((db) =>
              db.updateTable("ranges").set({ made_for: userId }).where("id", "=", id).where("made_for", "is", null).execute(),
            )
            return (numInsertedOrUpdatedRows ?? 0n) > 0n
          }),
        ),
      revoke: (id, userId) =>
        database.serializedWrite(`revoke range ${id} from ${userId}`, (tx) =>
          Effect.map(
            tx((db) => db.deleteFrom("range_grants").where("range_id", "=", id).where("user_id", "=", userId).executeTakeFirst()),
            ({ numDeletedRows }) => numDeletedRows > 0n,
          ),
        ),
      touch: (stamps) =>
        database.serializedWrite("store when ranges were last used", (tx) =>
          Effect.forEach(
            inOrder(stamps),
            ([id, at]) =>
              tx((db) =>
                db
                  .updateTable("ranges")
                  .set({ last_active_at: at.getTime() })
                  .where("id", "=", id)
                  .where((where) =>
                    where.or([
                      where("last_active_at", "is", null),
                      where("last_active_at", "<", at.getTime()),
                      where("last_active_at", ">", at.getTime() + setBackBy.lastActive),
                    ]),
                  )
                  .execute(),
              ),
            { discard: true },
          ),
        ),
    }
  }),
)
