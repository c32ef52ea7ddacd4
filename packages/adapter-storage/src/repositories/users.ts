import { randomUUID } from "node:crypto"
import {
  allocateUserNumber,
  LastAdministrator,
  newlyMadeUser,
  nothingHeldByVpn,
  numbersHeldByVpn,
  restedNumbers,
  rootUserId,
  setBackBy,
  UserExists,
  type UserId,
  UserNotFound,
  type UserSecrets,
} from "@rangewright/domain"
import { beingTold, type NewUser, Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Updateable } from "kysely"
import { Database } from "../engine/database.ts"
import type { Transaction } from "../engine/transaction.ts"
import { toldRouters } from "../records/installation.ts"
import { restingNumbers, toSecrets, toUser, users } from "../records/user.ts"
import { first } from "../schema/table.ts"
import type { Tables } from "../schema/tables.ts"
import { inOrder } from "./in-order.ts"
import { refuseForeignSeal } from "./refuse-foreign-seal.ts"
import { toHeldVpn } from "./vpn-records.ts"

const emailKeyOf = (email: string): string | undefined => (email === "" ? undefined : email.toLowerCase())

const secretColumns = (secrets: Partial<UserSecrets>) =>
  users.write({ ...secrets, ...("sealedPassword" in secrets ? { passwordVersion: randomUUID() } : {}) })

/** Fails when the id, the hypervisor account or the address belongs to another user. */
const refuseTwin = (tx: Transaction, user: NewUser) =>
  Effect.gen(function* () {
    const emailKey = emailKeyOf(user.email)
    const twins = yield* tx((db) =>
      db
        .selectFrom("users")
        .select(["id", "email_key", "hypervisor_username as account", "hypervisor_realm as realm"])
        .where((where) =>
          where.or([
            where("id", "=", user.id),
            where("email_key", "=", emailKey ?? null),
            where.and([
              where("hypervisor_username", "=", user.hypervisorUsername),
              where("hypervisor_realm", "=", user.hypervisorRealm),
            ]),
          ]),
        )
        .execute(),
    )
    if (twins.some((twin) => twin.id === user.id)) return yield* new UserExists({ field: "userID", value: user.id })
    if (twins.some((twin) => twin.account === user.hypervisorUsername && twin.realm === user.hypervisorRealm))
      return yield* new UserExists({ field: "name", value: user.name })
    if (twins.length > 0) return yield* new UserExists({ field: "email", value: user.email })
  })

const endSessions = (tx: Transaction, id: UserId) => tx((db) => db.deleteFrom("sessions").where("user_id", "=", id).execute())

const toResting = restingNumbers.reader()
const toTold = toldRouters.reader()

/** The lowest free number; numbers of deleted users are free again after a waiting period. */
const takeNumber = (tx: Transaction, { id, number }: NewUser, now: number) =>
  Effect.gen(function* () {
    // written before the clock was set back: nothing says how long ago, so they rest from now on
    yield* tx((db) => db.updateTable("resting_user_numbers").set({ since: now }).where("since", ">", now).execute())
    const resting = yield* tx((db) => db.selectFrom("resting_user_numbers").selectAll().execute())
    const told = yield* tx((db) => db.selectFrom("told_routers").select(["range_id", "users"]).execute())
    const server = yield* tx((db) => db.selectFrom("vpn_server").selectAll().executeTakeFirst())
    const rested = restedNumbers({
      resting: new Map(resting.map(toResting).map(({ number, since }) => [number, since.getTime()])),
      now,
      routers: told.map(toTold).map(({ users }) => (users.includes(beingTold) ? undefined : users)),
      vpn: numbersHeldByVpn(server === undefined ? nothingHeldByVpn : toHeldVpn(server)),
    })
    if (rested.length > 0) yield* tx((db) => db.deleteFrom("resting_user_numbers").where("number", "in", rested).execute())
    const used = yield* tx((db) =>
      db.selectFrom("users").select("number").unionAll(db.selectFrom("resting_user_numbers").select("number")).execute(),
    )
    return yield* Effect.fromResult(allocateUserNumber(id, new Set(used.map((row) => row.number)), number))
  })

const update = (tx: Transaction, id: UserId, columns: Updateable<Tables["users"]>) =>
  Effect.gen(function* () {
    const changed = yield* tx((db) =>
      db.updateTable("users").set(columns).where("id", "=", id).returningAll().execute().then(first(toUser)),
    )
    return changed ?? (yield* new UserNotFound({ userId: id }))
  })

export const usersLayer: Layer.Layer<Users, never, Database> = Layer.effect(
  Users,
  Effect.gen(function* () {
    const database = yield* Database
    const doing = "find a user"
    const byId = database.cachedRead(
      doing,
      "select * from users where id = ?",
      ([row]) => row && { user: toUser(row), secrets: toSecrets(row) },
    )
    const byRecord = database.prepared(doing, "select * from users where record_id = ?", first(toUser))
    const byEmail = database.prepared(doing, "select * from users where email_key = ?", first(toUser))
    const all = database.list("list users", "select * from users order by number", toUser)

    return {
      find: (id) => Effect.map(byId(id), (found) => found?.user),
      findByRecordId: byRecord,
      findByEmail: (email) => byEmail(email.toLowerCase()),
      list: all(),
      create: (user) =>
        database.serializedWrite(`create user ${user.id}`, (tx) =>
          Effect.gen(function* () {
            yield* refuseForeignSeal(tx, database.engine, user.secrets.sealedPassword)
            yield* refuseTwin(tx, user)
            const number = yield* takeNumber(tx, user, yield* Clock.currentTimeMillis)
            const made = newlyMadeUser(user, number)
            const row = { ...made, ...user.secrets, emailKey: emailKeyOf(user.email), passwordVersion: randomUUID() }
            yield* tx((db) => db.insertInto("users").values(users.write(row)).execute())
            return made
          }),
        ),
      setAdmin: (id, isAdmin) =>
        database.serializedWrite(`change the rights of user ${id}`, (tx) =>
          Effect.gen(function* () {
            const admins = yield* tx((db) =>
              db.selectFrom("users").select("id").where("is_admin", "=", true).where("id", "<>", rootUserId).execute(),
            )
            if (!isAdmin && admins.length === 1 && admins[0]?.id === id) return yield* new LastAdministrator({ userId: id })
            if (!isAdmin) yield* endSessions(tx, id)
            const updated_at = yield* Clock.currentTimeMillis
            return yield* update(tx, id, { is_admin: isAdmin, updated_at })
          }),
        ),
      change: (id, change) =>
        database.write(`change user ${id}`, (tx) =>
          Effect.gen(function* () {
            const updated_at = yield* Clock.currentTimeMillis
            return yield* update(tx, id, { ...users.write(change), updated_at })
          }),
        ),
      remove: (id) =>
        database.serializedWrite(`remove user ${id}`, (tx) =>
          Effect.gen(function* () {
            const since = yield* Clock.currentTimeMillis
            const gone = yield* tx((db) => db.deleteFrom("users").where("id", "=", id).returning("number").executeTakeFirst())
            if (gone === undefined) return
            yield* tx((db) => db.deleteFrom("step_durations").where("owner", "=", id).execute())
            yield* tx((db) =>
              db
                .insertInto("resting_user_numbers")
                .values({ number: gone.number, since })
                .onConflict((conflict) => conflict.column("number").doUpdateSet({ since }))
                .execute(),
            )
          }),
        ),
      forAuthentication: byId,
      setSecrets: (id, secrets, condition) =>
        database.write(`change the secrets of user ${id}`, (tx) =>
          Effect.gen(function* () {
            yield* refuseForeignSeal(tx, database.engine, secrets.sealedPassword)
            const updated_at = yield* Clock.currentTimeMillis
            const { numUpdatedRows } = yield* tx((db) =>
              db
                .updateTable("users")
                .set({ ...secretColumns(secrets), updated_at })
                .where("id", "=", id)
                .$if(condition !== undefined, (update) => update.where("api_key_hash", "=", condition?.whileApiKeyHash ?? ""))
                .executeTakeFirst(),
            )
            if (condition === undefined) {
              yield* endSessions(tx, id)
              yield* tx((db) => db.deleteFrom("scoped_keys").where("user_id", "=", id).execute())
            }
            if (numUpdatedRows === 0n && condition === undefined) return yield* new UserNotFound({ userId: id })
          }),
        ),
      touch: (stamps) =>
        database.write("store when users were last active", (tx) =>
          Effect.forEach(
            inOrder(stamps),
            ([id, at]) =>
              tx((db) =>
                db
                  .updateTable("users")
                  .set({ last_active_at: at.getTime() })
                  .where("id", "=", id)
                  .where((where) =>
                    where.or([
                      where("last_active_at", "is", null),
                      where("last_active_at", "<", at.getTime()),
                      where("last_active_at", ">", at.getTime() + setBackBy.lastActive),
                    ]),
                  )
                  .execute(),
              ),
            { discard: true },
          ),
        ),
    }
  }),
)
