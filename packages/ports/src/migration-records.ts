import type { MigrationRecord } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RecordDamaged, StorageFault } from "./faults.ts"

/** The state of the installation before its networks were migrated. There is at most one record. */
export class MigrationRecords extends Context.Service<
  MigrationRecords,
  {
    readonly find: Effect.Effect<MigrationRecord | undefined, StorageFault | RecordDamaged>
    /** Durable when it returns. Replaces an earlier record. */
    readonly save: (record: MigrationRecord) => Effect.Effect<void, StorageFault>
    /** Succeeds if there is none. */
    readonly remove: Effect.Effect<void, StorageFault>
  }
>()("rangewright/MigrationRecords") {}
