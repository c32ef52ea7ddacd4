import type { StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Database } from "../engine/database.ts"

/**
 * Succeeds when the store takes writes now: it makes one that changes nothing. A full disk, a read-only file system and a lost server all
 * show here, and success shows again when they are fixed.
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
