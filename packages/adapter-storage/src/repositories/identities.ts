import { UserNotFound } from "@rangewright/domain"
import { Identities } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../engine/database.ts"
import { identities, spentSignIns, toIdentity } from "../records/identity.ts"
import { every, first } from "../schema/table.ts"

export const identitiesLayer: Layer.Layer<Identities, never, Database> = Layer.effect(
  Identities,
  Effect.gen(function* () {
    const database = yield* Database
    const doing = "read the links of users to people"
    const byPerson = database.prepared(doing, "select * from identities where issuer = ? and subject = ?", first(toIdentity))
    return {
      find: ({ issuer, subject }) => byPerson(issuer, subject),
      ofUser: database.prepared(
        doing,
        "select * from identities where user_id = ? order by created_at, issuer",
        every(toIdentity),
      ),
      link: (identity, { administrators }) =>
        // serialized like changes of rights, so that nobody becomes an administrator in between
        database.serializedWrite("link a person to a user", (tx) =>
          Effect.gen(function* () {
            const { issuer, subject, userId } = identity
            const user = yield* tx((db) => db.selectFrom("users").select("is_admin").where("id", "=", userId).executeTakeFirst())
            if (user === undefined) return yield* new UserNotFound({ userId })
            if (Boolean(user.is_admin) && !administrators) return "administrator"
            const there = yield* tx((db) =>
              db
                .selectFrom("identities")
                .select("subject")
                .where("issuer", "=", issuer)
                .where((where) => where.or([where("subject", "=", subject), where("user_id", "=", userId)]))
                .execute(),
            )
            if (there.some((one) => one.subject === subject)) return "person-taken"
            if (there.length > 0) return "user-taken"
            yield* tx((db) => db.insertInto("identities").values(identities.write(identity)).execute())
            return "linked"
          }),
        ),
      unlink: (userId) =>
        database.write("remove the links of a user", (tx) =>
          Effect.map(
            tx((db) => db.deleteFrom("identities").where("user_id", "=", userId).executeTakeFirst()),
            ({ numDeletedRows }) => Number(numDeletedRows),
          ),
        ),
      spend: (signIn) =>
        database.write("note a sign-in", (tx) =>
          Effect.gen(function* () {
            const now = yield* Clock.currentTimeMillis
            yield* tx((db) => db.deleteFrom("spent_sign_ins").where("expires_at", "<=", now).execute())
            const { numInsertedOrUpdatedRows } = yield* tx((db) =>
              db
                .insertInto("spent_sign_ins")
                .values(spentSignIns.write(signIn))
                .onConflict((conflict) => conflict.column("hash").doNothing())
                .executeTakeFirst(),
            )
            return numInsertedOrUpdatedRows === 1n
          }),
        ),
    }
  }),
)
