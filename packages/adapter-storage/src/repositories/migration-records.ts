import { MigrationRecords, RecordDamaged } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../engine/database.ts"
import { migrationRecords } from "../records/installation.ts"

/** The one row. */
const id = "networks"
const read = migrationRecords.reader({ only: ["record"] })

const damaged = new RecordDamaged({
  what: "the record of the networks before the migration",
  hint: "Restore the store from a backup. Without one, remove the row of the table migration_records: bridges can then no longer be restored, and a running migration saves a new record.",
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
        return yield* Effect.try({ try: () => read(row).record, catch: () => damaged })
      }),
      save: (record) =>
        database.write("save the record of the migration", (tx) =>
          Effect.asVoid(
            tx((db) => {
              const kept = migrationRecords.write({ id, record })
              return db
                .insertInto("migration_records")
                .values(kept)
                .onConflict((conflict) => conflict.column("id").doUpdateSet(kept))
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
