import { sealingKeyOf } from "@rangewright/domain"
import { StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Database } from "../engine/database.ts"
import type { Transaction } from "../engine/transaction.ts"

/**
 * Fails when a text was sealed with a key other than the database's: the key was changed while the process that sealed it was running. The
 * text could never be opened. The key cannot change until the end of the transaction.
 */
export const refuseForeignSeal = (
  tx: Transaction,
  engine: Database["Service"]["engine"],
  ...texts: readonly (string | null | undefined)[]
) =>
  Effect.gen(function* () {
    const ids = texts.flatMap((text) => sealingKeyOf(text ?? "") ?? [])
    if (ids.length === 0) return
    const current = yield* tx((db) =>
      db
        .selectFrom("sealing_key")
        .select("key_id")
        .$if(engine === "postgresql", (query) => query.forShare())
        .executeTakeFirst(),
    )
    if (current === undefined || ids.every((id) => id === current.key_id)) return
    return yield* new StorageFault({
      doing: "store a secret",
      because: `its key was changed to ${current.key_id} since this service started: give it that key and restart it`,
    })
  })
