import { accountIdOf, nothingHeld, rootUserId, type StoredAccess } from "@rangewright/domain"
import { AccessRecords, RecordDamaged, StaleVersion } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../engine/database.ts"
import { heldAccess, toldRouters } from "../records/installation.ts"
import { flag, key, named, text, whole } from "../schema/column.ts"
import { rangeId, userId, vmid } from "../schema/ids.ts"
import { readerOf, type StoredRow } from "../schema/table.ts"

/** The one row. */
const id = 1

const readHeld = heldAccess.reader({ without: ["id"] })
const readTold = toldRouters.reader()

const damaged = new RecordDamaged({
  what: "the record of what the service has granted on the hypervisor",
  hint: "Restore the store from a backup. Without one, remove the row of the table held_access: the service then adopts what is on the hypervisor, and forgets what it still had to revoke there. Look for accounts and pools of deleted users and ranges.",
})

const machinesSql = (only: string) => `
  union all select 'machine', null, m.vmid, null, null, null, null, r.id from machines m join ranges r on r.id = m.pool where not m.template
    and ${only}`

/**
 * Users, ranges, grants and all else that gives access: one statement, so that it is one snapshot on both engines. `only` restricts ranges
 * by the column that names them.
 */
const storedSql = (
  only: (column: string) => string,
  machines: string,
) => `select 'user' as what, u.id, u.number, u.is_admin as flag, u.hypervisor_username as username, u.hypervisor_realm as realm,
    u.password_version as version, null as range_id from users u
  union all select 'range', r.id, r.number, exists (select 1 from runs where runs.range_id = r.id and runs.kind = 'delete-range'
    and runs.busy_subject is not null), null, null, null, null from ranges r where ${only("r.id")}${machines}
  union all select 'path', g.user_id, null, null, null, null, null, g.range_id from range_grants g where ${only("g.range_id")}
  union select 'path', m.user_id, null, null, null, null, null, g.range_id from group_members m join group_ranges g on g.group_name = m.group_name
    where ${only("g.range_id")}`

const readUser = readerOf("the users", {
  id: key(userId),
  number: whole,
  isAdmin: named("flag", flag),
  hypervisorUsername: named("username", text),
  hypervisorRealm: named("realm", text),
  passwordVersion: named("version", text),
})()
const readRange = readerOf("the ranges", { id: key(rangeId), number: whole, leaving: named("flag", flag) })()
const readMachine = readerOf("the machines", { vmid: key(named("number", vmid)), rangeId })()
const readPath = readerOf("the grants", { userId: named("id", userId), rangeId })()

/** Leaving out a row would revoke its access, so a damaged one fails the whole read. */
const toStoredAccess = (rows: readonly StoredRow[]): StoredAccess => {
  const each = <A>(what: string, read: (row: StoredRow) => A) => rows.filter((row) => row["what"] === what).map(read)
  const people = Map.groupBy(each("path", readPath), (path) => path.rangeId)
  const machines = Map.groupBy(each("machine", readMachine), (machine) => machine.rangeId)
  const byNumber = (a: { readonly number: number }, b: { readonly number: number }) => a.number - b.number
  return {
    users: each("user", readUser)
      .filter(({ id }) => id !== rootUserId)
      .sort(byNumber)
      .map((user) => ({ id: user.id, account: accountIdOf(user), isAdmin: user.isAdmin, passwordVersion: user.passwordVersion })),
    ranges: each("range", readRange)
      .sort(byNumber)
      .map((range) => ({
        ...range,
        users: (people.get(range.id) ?? []).map((path) => path.userId).sort(),
        machines: (machines.get(range.id) ?? []).map((machine) => machine.vmid).sort((a, b) => a - b),
      })),
  }
}

export const accessRecordsLayer: Layer.Layer<AccessRecords, never, Database> = Layer.effect(
  AccessRecords,
  Effect.gen(function* () {
    const database = yield* Database
    const stored = database.prepared(
      "read who has access",
      storedSql(() => "true", machinesSql("true")),
      toStoredAccess,
    )
    const withoutMachines = database.prepared(
      "read who has access, without machines",
      storedSql(() => "true", ""),
      toStoredAccess,
    )
    const storedOf = database.prepared(
      "read who has access to a range",
      storedSql((column) => `${column} = ?`, machinesSql("r.id = ?")),
      toStoredAccess,
    )
    const told = database.prepared(
      "read the access granted on routers",
      "select range_id, users from told_routers",
      (rows) => new Map(rows.map(readTold).map(({ rangeId, users }) => [rangeId, users])),
    )
    return {
      stored: stored(),
      withoutMachines: withoutMachines(),
      storedOf: (range) => storedOf(range, range, range, range),
      held: Effect.gen(function* () {
        const row = yield* database.read("read the rights granted on the hypervisor", (db) =>
          db.selectFrom("held_access").select(["record", "version"]).where("id", "=", id).executeTakeFirst(),
        )
        if (row === undefined) return { held: nothingHeld, version: 0 }
        return yield* Effect.try({ try: () => readHeld(row), catch: () => damaged })
      }),
      hold: (held, version) =>
        database.write("store the rights granted on the hypervisor", (tx) =>
          Effect.gen(function* () {
            const next = heldAccess.write({ held, version: version + 1 })
            const written = yield* tx((db) =>
              version === 0
                ? db
                    .insertInto("held_access")
                    .values({ id, ...next })
                    .onConflict((conflict) => conflict.column("id").doNothing())
                    .returning("id")
                    .executeTakeFirst()
                : db
                    .updateTable("held_access")
                    .set(next)
                    .where("id", "=", id)
                    .where("version", "=", version)
                    .returning("id")
                    .executeTakeFirst(),
            )
            if (written === undefined) return yield* new StaleVersion({ what: "the record of rights granted on the hypervisor" })
          }),
        ),
      told: told(),
      tell: (range, users) =>
        // serialized like the removal of a range, which therefore cannot happen between the read and the write
        database.serializedWrite(`store the access granted on the router of ${range}`, (tx) =>
          Effect.gen(function* () {
            const found = yield* tx((db) => db.selectFrom("ranges").select("id").where("id", "=", range).executeTakeFirst())
            if (found === undefined) return
            const row = toldRouters.write({ rangeId: range, users })
            yield* tx((db) =>
              db
                .insertInto("told_routers")
                .values(row)
                .onConflict((conflict) => conflict.column("range_id").doUpdateSet(row))
                .execute(),
            )
          }),
        ),
    }
  }),
)
