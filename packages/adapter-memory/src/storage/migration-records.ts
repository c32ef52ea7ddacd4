import { MigrationRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { MemoryStore } from "./memory-store.ts"

export const migrationRecordsLayer = (store: MemoryStore): Layer.Layer<MigrationRecords> =>
  Layer.succeed(MigrationRecords, {
    find: Effect.sync(() => store.migrationRecord),
    save: (record) => Effect.sync(() => void (store.migrationRecord = record)),
    remove: Effect.sync(() => void (store.migrationRecord = undefined)),
  })
