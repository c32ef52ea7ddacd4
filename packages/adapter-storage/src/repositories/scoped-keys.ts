import { Conflict, scopedKeysAtMost, tooManyScopedKeys } from "@rangewright/domain"
import { ScopedKeys } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../engine/database.ts"
import { scopedKeyRow, toScopedKey } from "../records/scoped-key.ts"
import { every, first } from "../schema/table.ts"
import { requireRange, requireUser } from "./require.ts"

export const scopedKeysLayer: Layer.Layer<ScopedKeys, never, Database> = Layer.effect(
  ScopedKeys,
  Effect.gen(function* () {
    const database = yield* Database
    const doing = "read API keys"
    return {
      create: (key) =>
        // serialized, so that the count cannot change before the insert
        database.serializedWrite("store an API key", (tx) =>
          Effect.gen(function* () {
            const { userId, scope } = key
            yield* requireUser(tx, userId)
            if (scope.kind === "range") yield* requireRange(tx, scope.rangeId)
            const now = yield* Clock.currentTimeMillis
            yield* tx((db) => db.deleteFrom("scoped_keys").where("user_id", "=", userId).where("expires_at", "<=", now).execute())
            const there = yield* tx((db) => db.selectFrom("scoped_keys").select("id").where("user_id", "=", userId).execute())
            if (there.length >= scopedKeysAtMost) return yield* new Conflict(tooManyScopedKeys(userId))
            yield* tx((db) => db.insertInto("scoped_keys").values(scopedKeyRow(key)).execute())
          }),
        ),
      find: database.prepared(doing, "select * from scoped_keys where id = ?", first(toScopedKey)),
      ofUser: database.prepared(doing, "select * from scoped_keys where user_id = ? order by created_at, id", every(toScopedKey)),
      remove: (userId, id) =>
        database.write("remove an API key", (tx) =>
          tx((db) => {
            const ofAnybody = db.deleteFrom("scoped_keys").where("id", "=", id).returning("id")
            const chosen = userId === undefined ? ofAnybody : ofAnybody.where("user_id", "=", userId)
            return chosen.execute().then((rows) => rows.length > 0)
          }),
        ),
    }
  }),
)
