import { damagedHeldVpn, type HeldVpn, nothingHeldByVpn, rootUserId, type VpnMember } from "@rangewright/domain"
import { RecordDamaged, StaleVersion, VpnRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../engine/database.ts"
import { userId } from "../schema/ids.ts"
import { toVpnKey, vpnKeys, vpnServers } from "../records/vpn.ts"
import { key, optional, text, whole } from "../schema/column.ts"
import { DamagedRow, first, readerOf, type StoredRow } from "../schema/table.ts"
import { refuseForeignSeal } from "./refuse-foreign-seal.ts"
import { requireUser } from "./require.ts"

/** The one row. */
const id = 1

const readRecord = vpnServers.reader({ only: ["held"] })
const readVersion = vpnServers.reader({ only: ["version"] })

const damaged = new RecordDamaged({
  what: "the version of the record of who may use the VPN",
  hint: "Remove the row of the table vpn_server: the service checks the server and writes it again.",
})

/** An unreadable record must not block revocations: the next check of the server recreates it. */
export const toHeldVpn = (row: StoredRow): HeldVpn => {
  try {
    return readRecord(row).held
  } catch (cause) {
    if (cause instanceof DamagedRow) return damagedHeldVpn
    throw cause
  }
}

/** One statement, so that it is one snapshot on both engines. */
const membersSql = `select u.number as user_number, k.public_key, r.number as range_number
  from vpn_keys k join users u on u.id = k.user_id
  left join (select g.user_id, g.range_id from range_grants g
    union select m.user_id, g.range_id from group_members m join group_ranges g on g.group_name = m.group_name) p on p.user_id = u.id
  left join ranges r on r.id = p.range_id
  order by u.number, r.number`

const readMember = readerOf("the members of the VPN", {
  userNumber: key(whole),
  publicKey: text,
  rangeNumber: optional(whole),
})()

/** Leaving out a row would revoke its access, so a damaged one fails the whole read. */
const toMembers = (rows: readonly StoredRow[]): readonly VpnMember[] =>
  [...Map.groupBy(rows.map(readMember), ({ userNumber }) => userNumber)].map(([userNumber, paths]) => ({
    userNumber,
    publicKey: paths[0]?.publicKey ?? "",
    rangeNumbers: paths.flatMap(({ rangeNumber }) => rangeNumber ?? []),
  }))

const readId = readerOf("the users", { id: key(userId) })()

export const vpnRecordsLayer: Layer.Layer<VpnRecords, never, Database> = Layer.effect(
  VpnRecords,
  Effect.gen(function* () {
    const database = yield* Database
    const keyless = database.list(
      "find users without a VPN key",
      `select u.id from users u left join vpn_keys k on k.user_id = u.id where k.user_id is null and u.id <> '${rootUserId}' order by u.number`,
      (row) => readId(row).id,
    )
    return {
      key: database.prepared("read a VPN key", "select * from vpn_keys where user_id = ?", first(toVpnKey)),
      keyless: keyless(),
      members: database.prepared("read who may use the VPN", membersSql, toMembers)(),
      held: Effect.gen(function* () {
        const row = yield* database.read("read what the VPN's server has", (db) =>
          db.selectFrom("vpn_server").select(["record", "version"]).where("id", "=", id).executeTakeFirst(),
        )
        if (row === undefined) return { held: nothingHeldByVpn, version: 0 }
        const { version } = yield* Effect.try({ try: () => readVersion(row), catch: () => damaged })
        return { held: toHeldVpn(row), version }
      }),
      hold: (held, version) =>
        database.write("store what the VPN's server has", (tx) =>
          Effect.gen(function* () {
            const next = vpnServers.write({ held, version: version + 1 })
            const written = yield* tx((db) =>
              version === 0
                ? db
                    .insertInto("vpn_server")
                    .values({ ...next, id })
                    .onConflict((conflict) => conflict.column("id").doNothing())
                    .returning("id")
                    .executeTakeFirst()
                : db
                    .updateTable("vpn_server")
                    .set(next)
                    .where("id", "=", id)
                    .where("version", "=", version)
                    .returning("id")
                    .executeTakeFirst(),
            )
            if (written === undefined) return yield* new StaleVersion({ what: "what the VPN's server has" })
          }),
        ),
      giveKey: (user, pair) =>
        database.serializedWrite(`create a VPN key for user ${user}`, (tx) =>
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
