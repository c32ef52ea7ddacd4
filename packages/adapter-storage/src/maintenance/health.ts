import type { StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Database } from "../engine/database.ts"

/**
 * Succeeds when the store accepts writes: makes one that changes nothing. Detects a full disk, a read-only file system and a lost server,
 * and their recovery.
 */
export const storageHealth: Effect.Effect<void, StorageFault, Database> = Database.use((database) =>
  database.write("write to the database", (tx) =>
    Effect.asVoid(
      tx((db) =>
        db
          .updateTable("revision")
          .set((column) => ({ value: column.ref("value") }))
          .where("id", "=", 1)
          .execute(),
      ),
    ),
  ),
)
