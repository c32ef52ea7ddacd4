import { rootUserId } from "@rangewright/domain"
import { VpnRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../engine/database.ts"
import { userId } from "../schema/ids.ts"
import { toVpnKey, vpnKeys } from "../records/vpn.ts"
import { key } from "../schema/column.ts"
import { first, readerOf } from "../schema/table.ts"
import { refuseForeignSeal } from "./refuse-foreign-seal.ts"
import { requireUser } from "./require.ts"

const readId = readerOf("the users", { id: key(userId) })()

export const vpnRecordsLayer: Layer.Layer<VpnRecords, never, Database> = Layer.effect(
  VpnRecords,
  Effect.gen(function* () {
    const database = yield* Database
    const keyless = database.list(
      "look for users without a VPN key",
      `select u.id from users u left join vpn_keys k on k.user_id = u.id where k.user_id is null and u.id <> '${rootUserId}' order by u.number`,
      (row) => readId(row).id,
    )
    return {
      key: database.prepared("read a VPN key", "select * from vpn_keys where user_id = ?", first(toVpnKey)),
      keyless: keyless(),
      giveKey: (user, pair) =>
        database.serializedWrite(`give user ${user} a VPN key`, (tx) =>
          Effect.gen(function* () {
            yield* refuseForeignSeal(tx, database.engine, pair.sealed)
            yield* requireUser(tx, user)
            const row = vpnKeys.write({ userId: user, ...pair })
            yield* tx((db) =>
              db
                .insertInto("vpn_keys")
                .values(row)
                .onConflict((conflict) => conflict.column("user_id").doNothing())
                .execute(),
            )
          }),
        ),
      replaceKey: (user, pair) =>
        database.serializedWrite(`replace the VPN key of user ${user}`, (tx) =>
          Effect.gen(function* () {
            yield* refuseForeignSeal(tx, database.engine, pair.sealed)
            yield* requireUser(tx, user)
            const row = vpnKeys.write({ userId: user, ...pair })
            yield* tx((db) =>
              db
                .insertInto("vpn_keys")
                .values(row)
                .onConflict((conflict) => conflict.column("user_id").doUpdateSet(row))
                .execute(),
            )
          }),
        ),
    }
  }),
)
