import { Conflict, passwordContext, sourceAccessContext, userPasswordContext, vpnKeyContext } from "@rangewright/domain"
import type { StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Kysely } from "kysely"
import { Database } from "../engine/database.ts"
import type { Tables } from "../schema/tables.ts"
import type { SealingKey } from "./sealing-key.ts"

/** A sealed text, its context, and how to write it back; null gives it up. */
interface Place {
  readonly sealed: string
  readonly context: string
  readonly put: (db: Kysely<Tables>, sealed: string | null) => Promise<unknown>
}

/** Where the database keeps sealed texts, except those that identify its key. */
const places = async (db: Kysely<Tables>): Promise<readonly Place[]> => {
  const users = await db
    .selectFrom("users")
    .select(["id", "sealed_password as sealed"])
    .where("sealed_password", "is not", null)
    .execute()
  const sources = await db
    .selectFrom("sources")
    .select(["record_id", "access as sealed"])
    .where("access", "is not", null)
    .execute()
  const logins = await db.selectFrom("machine_logins").selectAll().execute()
  const vpnKeys = await db.selectFrom("vpn_keys").select(["user_id", "sealed"]).execute()
  return [
    ...users.map(({ id, sealed }) => ({
      sealed: sealed ?? "",
      context: userPasswordContext(id),
      put: (tx: Kysely<Tables>, text: string | null) =>
        tx.updateTable("users").set({ sealed_password: text }).where("id", "=", id).execute(),
    })),
    ...sources.map(({ record_id, sealed }) => ({
      sealed: sealed ?? "",
      context: sourceAccessContext(record_id),
      put: (tx: Kysely<Tables>, text: string | null) =>
        tx.updateTable("sources").set({ access: text }).where("record_id", "=", record_id).execute(),
    })),
    ...vpnKeys.map(({ user_id, sealed }) => ({
      sealed,
      context: vpnKeyContext(user_id),
      // a pair is useless without its private key: the user gets a new one
      put: (tx: Kysely<Tables>, text: string | null) =>
        text === null
          ? tx.deleteFrom("vpn_keys").where("user_id", "=", user_id).execute()
          : tx.updateTable("vpn_keys").set({ sealed: text }).where("user_id", "=", user_id).execute(),
    })),
    ...logins.flatMap(({ range_id, vmid, ...columns }) =>
      (["sealed", "sealed_next"] as const).flatMap((column) => {
        const sealed = columns[column]
        if (sealed === null) return []
        const context = passwordContext(range_id, vmid)
        const put = (tx: Kysely<Tables>, text: string | null) =>
          tx
            .updateTable("machine_logins")
            .set({ [column]: text })
            .where("range_id", "=", range_id)
            .where("vmid", "=", vmid)
            .execute()
        return [{ sealed, context, put }]
      }),
    ),
  ]
}

/** Every sealed text of the database, with its context. */
export const sealedTexts: Effect.Effect<readonly Pick<Place, "sealed" | "context">[], StorageFault, Database> = Database.use(
  (database) =>
    database.read("read the encrypted secrets", async (db) =>
      (await places(db)).map(({ sealed, context }) => ({ sealed, context })),
    ),
)

/**
 * Seals everything again and makes `to` the database's key, in one transaction: all or nothing. `anew` returns the new text, null to give
 * it up, or undefined to leave it as it is; the result says the same. Fails when the key is no longer `from`. Later writes of texts sealed
 * with the old key are refused.
 */
export const sealAnew = <E>(
  from: SealingKey,
  to: SealingKey,
  anew: (sealed: string, context: string) => Effect.Effect<string | null | undefined, E>,
): Effect.Effect<
  readonly { readonly context: string; readonly text: string | null | undefined }[],
  E | Conflict | StorageFault,
  Database
> =>
  Database.use((database) =>
    database.serializedWrite("encrypt the secrets again", (tx) =>
      Effect.gen(function* () {
        // first: from here on, writers of secrets wait for us, or we for them
        const { numUpdatedRows } = yield* tx((db) =>
          db
            .updateTable("sealing_key")
            .set({ key_id: to.keyId, sealed_hash_key: to.sealedHashKey, sealed_root_key: to.sealedRootKey ?? null })
            .where("sealed_hash_key", "=", from.sealedHashKey)
            .where("sealed_root_key", "is not distinct from", from.sealedRootKey ?? null)
            .executeTakeFirst(),
        )
        if (numUpdatedRows === 0n)
          return yield* new Conflict({ what: "Cannot encrypt the secrets again: the key was changed meanwhile" })
        return yield* Effect.forEach(yield* tx(places), ({ sealed, context, put }) =>
          Effect.gen(function* () {
            const text = yield* anew(sealed, context)
            if (text !== undefined) yield* tx((db) => put(db, text))
            return { context, text }
          }),
        )
      }),
    ),
  )
