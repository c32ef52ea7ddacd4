import { Conflict, passwordContext, sourceAccessContext, userPasswordContext, vpnKeyContext } from "@rangewright/domain"
import type { StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Kysely } from "kysely"
import { Database } from "../engine/database.ts"
import type { Tables } from "../schema/tables.ts"
import type { SealingKey } from "./sealing-key.ts"

/** A sealed text, what it is bound to, and how it is put back; null: it is given up. */
interface Place {
  readonly sealed: string
  readonly context: string
  readonly put: (db: Kysely<Tables>, sealed: string | null) => Promise<unknown>
}

/** Where the database keeps what is sealed, but for what tells its key. */
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
      // without its private key a pair is of no use: the user gets another one
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

/** Every sealed text of the database, with what it is bound to. */
export const sealedTexts: Effect.Effect<readonly Pick<Place, "sealed" | "context">[], StorageFault, Database> = Database.use(
  (database) =>
    database.read("read the encrypted secrets", async (db) =>
      (await places(db)).map(({ sealed, context }) => ({ sealed, context })),
    ),
)

/**
 * Seals everything anew and takes `to` for the database's key, in one transaction: all or nothing. `anew` tells the new text, null to
 * give it up, undefined to leave it as it is; so does the answer. Fails when the key is not `from` any more. Whoever writes a text sealed with the old key
 * afterwards is refused.
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
        // first of all: who is about to write a secret waits for us from here on, or we for them
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
