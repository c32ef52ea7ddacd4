import { MigrationRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { writesTo } from "./atomically.ts"
import type { MemoryStore } from "./memory-store.ts"

export const migrationRecordsLayer = (store: MemoryStore): Layer.Layer<MigrationRecords> => {
  const { change } = writesTo(store)
  return Layer.succeed(MigrationRecords, {
    find: Effect.sync(() => store.migrationRecord),
    save: (record) => change(() => void (store.migrationRecord = record)),
    remove: change(() => void (store.migrationRecord = undefined)),
  })
}
