import {
  allocateUserNumber,
  LastAdministrator,
  rootUserId,
  type User,
  UserExists,
  UserNotFound,
  type UserSecrets,
  userNumberRestMillis,
} from "@rangewright/domain"
import { type NewUser, type UserChange, Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Insertable, Selectable } from "kysely"
import { Database, type Transaction } from "../engine/database.ts"
import type { Tables } from "../engine/orm.ts"
import { toSecrets, toUser } from "../schema/rows.ts"
import { inOrder } from "./in-order.ts"
import { refuseForeignSeal } from "./refuse-foreign-seal.ts"

type UserRow = Selectable<Tables["users"]>

const emailKeyOf = (email: string): string | null => (email === "" ? null : email.toLowerCase())

const secretColumns = (secrets: Partial<UserSecrets>): Partial<Insertable<Tables["users"]>> => ({
  ...("apiKeyHash" in secrets ? { api_key_hash: secrets.apiKeyHash ?? null } : {}),
  ...("sealedPassword" in secrets ? { sealed_password: secrets.sealedPassword ?? null } : {}),
  ...(secrets.tokenKey === undefined ? {} : { token_key: secrets.tokenKey }),
})

const changedColumns = (change: UserChange): Partial<Insertable<Tables["users"]>> => ({
  ...(change.name === undefined ? {} : { name: change.name }),
  ...(change.hasCompletedOnboarding === undefined ? {} : { has_completed_onboarding: change.hasCompletedOnboarding }),
  ...("defaultRangeId" in change ? { default_range_id: change.defaultRangeId ?? null } : {}),
})

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
            where("email_key", "=", emailKey),
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

/** The lowest free number; numbers whose rest is over are free again. */
const takeNumber = (tx: Transaction, { id, number }: NewUser, now: number) =>
  Effect.gen(function* () {
    yield* tx((db) =>
      db
        .deleteFrom("resting_user_numbers")
        .where("since", "<=", now - userNumberRestMillis)
        .execute(),
    )
    const used = yield* tx((db) =>
      db.selectFrom("users").select("number").unionAll(db.selectFrom("resting_user_numbers").select("number")).execute(),
    )
    return yield* Effect.fromResult(allocateUserNumber(id, new Set(used.map((row) => row.number)), number))
  })

export const usersLayer: Layer.Layer<Users, never, Database> = Layer.effect(
  Users,
  Effect.gen(function* () {
    const database = yield* Database
    const byId = database.kept("find a user", "select * from users where id = ?", ([row]: readonly UserRow[]) => ({
      found: row && { user: toUser(row), secrets: toSecrets(row) },
    }))
    const byRecord = database.prepared<UserRow>("find a user", "select * from users where record_id = ?")
    const byEmail = database.prepared<UserRow>("find a user", "select * from users where email_key = ?")
    const all = database.prepared<UserRow>("list users", "select * from users order by number")
    const first = Effect.map((rows: readonly UserRow[]): User | undefined =>
      rows[0] === undefined ? undefined : toUser(rows[0]),
    )

    return {
      find: (id) => Effect.map(byId(id), ({ found }) => found?.user),
      findByRecordId: (id) => first(byRecord(id)),
      findByEmail: (email) => first(byEmail(email.toLowerCase())),
      list: Effect.map(all(), (rows) => rows.map(toUser)),
      create: (user) =>
        database.writeAlone(`create user ${user.id}`, (tx) =>
          Effect.gen(function* () {
            yield* refuseForeignSeal(tx, database.engine, user.secrets.sealedPassword)
            yield* refuseTwin(tx, user)
            const number = yield* takeNumber(tx, user, yield* Clock.currentTimeMillis)
            const created = user.createdAt.getTime()
            const row = {
              id: user.id,
              record_id: user.recordId,
              number,
              name: user.name,
              email: user.email,
              email_key: emailKeyOf(user.email),
              is_admin: user.isAdmin,
              hypervisor_username: user.hypervisorUsername,
              hypervisor_realm: user.hypervisorRealm,
              default_range_id: null,
              has_completed_onboarding: false,
              created_at: created,
              updated_at: created,
              last_active_at: null,
              api_key_hash: null,
              sealed_password: null,
              token_key: "",
              ...secretColumns(user.secrets),
            }
            yield* tx((db) => db.insertInto("users").values(row).execute())
            return toUser(row)
          }),
        ),
      setAdmin: (id, isAdmin) =>
        database.writeAlone(`change the rights of user ${id}`, (tx) =>
          Effect.gen(function* () {
            const admins = yield* tx((db) =>
              db.selectFrom("users").select("id").where("is_admin", "=", true).where("id", "<>", rootUserId).execute(),
            )
            if (!isAdmin && admins.length === 1 && admins[0]?.id === id) return yield* new LastAdministrator({ userId: id })
            const updated_at = yield* Clock.currentTimeMillis
            const set = { is_admin: isAdmin, updated_at }
            const changed = yield* tx((db) =>
              db.updateTable("users").set(set).where("id", "=", id).returningAll().executeTakeFirst(),
            )
            return changed === undefined ? yield* new UserNotFound({ userId: id }) : toUser(changed)
          }),
        ),
      change: (id, change) =>
        database.write(`change user ${id}`, (tx) =>
          Effect.gen(function* () {
            const updated_at = yield* Clock.currentTimeMillis
            const changed = yield* tx((db) =>
              db
                .updateTable("users")
                .set({ ...changedColumns(change), updated_at })
                .where("id", "=", id)
                .returningAll()
                .executeTakeFirst(),
            )
            return changed === undefined ? yield* new UserNotFound({ userId: id }) : toUser(changed)
          }),
        ),
      remove: (id) =>
        database.writeAlone(`remove user ${id}`, (tx) =>
          Effect.gen(function* () {
            const since = yield* Clock.currentTimeMillis
            const gone = yield* tx((db) => db.deleteFrom("users").where("id", "=", id).returning("number").executeTakeFirst())
            if (gone === undefined) return
            yield* tx((db) =>
              db
                .insertInto("resting_user_numbers")
                .values({ number: gone.number, since })
                .onConflict((conflict) => conflict.column("number").doUpdateSet({ since }))
                .execute(),
            )
          }),
        ),
      forAuthentication: (id) => Effect.map(byId(id), ({ found }) => found),
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
            if (numUpdatedRows === 0n && condition === undefined) return yield* new UserNotFound({ userId: id })
          }),
        ),
      touch: (stamps) =>
        database.write("stamp the activity of users", (tx) =>
          Effect.forEach(
            inOrder(stamps),
            ([id, at]) =>
              tx((db) =>
                db
                  .updateTable("users")
                  .set({ last_active_at: at.getTime() })
                  .where("id", "=", id)
                  .where((where) => where.or([where("last_active_at", "is", null), where("last_active_at", "<", at.getTime())]))
                  .execute(),
              ),
            { discard: true },
          ),
        ),
    }
  }),
)
