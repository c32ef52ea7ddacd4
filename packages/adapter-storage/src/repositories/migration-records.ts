import { MigrationRecordJson } from "@rangewright/domain"
import { MigrationRecords, RecordDamaged } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Database } from "../engine/database.ts"

/** The one row. */
const id = "networks"

const Stored = Schema.fromJsonString(MigrationRecordJson)
const decode = Schema.decodeUnknownEffect(Stored)
const encode = Schema.encodeSync(Stored)

const damaged = new RecordDamaged({
  what: "the record of how the networks were before they moved",
  hint: "Restore the store from a backup. Without one, remove the row of the table migration_records: there is no way back to bridges then, and a migration that goes on saves a new record.",
})

export const migrationRecordsLayer: Layer.Layer<MigrationRecords, never, Database> = Layer.effect(
  MigrationRecords,
  Effect.gen(function* () {
    const database = yield* Database
    return {
      find: Effect.gen(function* () {
        const row = yield* database.read("read the record of the migration", (db) =>
          db.selectFrom("migration_records").select("record").where("id", "=", id).executeTakeFirst(),
        )
        if (row === undefined) return undefined
        return yield* Effect.mapError(decode(row.record), () => damaged)
      }),
      save: (record) =>
        database.write("save the record of the migration", (tx) =>
          Effect.asVoid(
            tx((db) => {
              const text = encode(record)
              return db
                .insertInto("migration_records")
                .values({ id, record: text })
                .onConflict((conflict) => conflict.column("id").doUpdateSet({ record: text }))
                .execute()
            }),
          ),
        ),
      remove: database.write("remove the record of the migration", (tx) =>
        Effect.asVoid(tx((db) => db.deleteFrom("migration_records").where("id", "=", id).execute())),
      ),
    }
  }),
)
