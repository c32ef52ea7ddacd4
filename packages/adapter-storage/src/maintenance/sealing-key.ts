import type { UserId } from "@rangewright/domain"
import type { StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Database } from "../engine/database.ts"
import { refuseForeignSeal } from "../repositories/refuse-foreign-seal.ts"

/** What a database records about the key that sealed its secrets. */
export interface SealingKey {
  readonly keyId: string
  /** The key with which API keys are hashed, sealed with the key. */
  readonly sealedHashKey: string
  /** ROOT's API key, sealed; undefined when it is not known. */
  readonly sealedRootKey: string | undefined
}

/** The table has one row. */
const row = 1

/** The key of this database; undefined in an empty one, and in one that an older version wrote. */
export const sealingKey: Effect.Effect<SealingKey | undefined, StorageFault, Database> = Database.use((database) =>
  database.read("read which key the database was encrypted with", async (db) => {
    const found = await db.selectFrom("sealing_key").selectAll().executeTakeFirst()
    return (
      found && {
        keyId: found.key_id,
        sealedHashKey: found.sealed_hash_key,
        sealedRootKey: found.sealed_root_key ?? undefined,
      }
    )
  }),
)

/** Makes this the key of a database that has none yet. Of two concurrent calls one wins; read afterwards to learn which. */
export const adoptSealingKey = ({
  keyId,
  sealedHashKey,
  sealedRootKey,
}: SealingKey): Effect.Effect<void, StorageFault, Database> =>
  Database.use((database) =>
    database.write("store which key encrypts the database", (tx) =>
      Effect.asVoid(
        tx((db) =>
          db
            .insertInto("sealing_key")
            .values({ id: row, key_id: keyId, sealed_hash_key: sealedHashKey, sealed_root_key: sealedRootKey ?? null })
            .onConflict((conflict) => conflict.column("id").doNothing())
            .execute(),
        ),
      ),
    ),
  )

/** Stores ROOT's API key, sealed. `first`: unless one is stored. */
export const keepSealedRootKey = (sealed: string, { first = false } = {}): Effect.Effect<void, StorageFault, Database> =>
  Database.use((database) =>
    database.write("store the key of ROOT", (tx) =>
      Effect.gen(function* () {
        yield* refuseForeignSeal(tx, database.engine, sealed)
        yield* tx((db) =>
          db
            .updateTable("sealing_key")
            .set({ sealed_root_key: sealed })
            .$if(first, (update) => update.where("sealed_root_key", "is", null))
            .execute(),
        )
      }),
    ),
  )

/** Whether this database was ever used: a service creates ROOT when it first starts with it. */
export const hasUsers: Effect.Effect<boolean, StorageFault, Database> = Database.use((database) =>
  database.read(
    "look for users",
    async (db) => (await db.selectFrom("users").select("id").limit(1).executeTakeFirst()) !== undefined,
  ),
)

/** The stored hash of a user's API key. */
export const apiKeyHash = (userId: UserId): Effect.Effect<string | undefined, StorageFault, Database> =>
  Database.use((database) =>
    database.read("read the hash of an API key", async (db) => {
      const found = await db.selectFrom("users").select("api_key_hash").where("id", "=", userId).executeTakeFirst()
      return found?.api_key_hash ?? undefined
    }),
  )
