import type { MigrationRecord } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RecordDamaged, StorageFault } from "./faults.ts"

/** What the installation was like before its networks moved. There is one record, or none. */
export class MigrationRecords extends Context.Service<
  MigrationRecords,
  {
    readonly find: Effect.Effect<MigrationRecord | undefined, StorageFault | RecordDamaged>
    /** Durable when it returns. Takes the place of what was saved before. */
    readonly save: (record: MigrationRecord) => Effect.Effect<void, StorageFault>
    /** Removing none is a success. */
    readonly remove: Effect.Effect<void, StorageFault>
  }
>()("rangewright/MigrationRecords") {}
