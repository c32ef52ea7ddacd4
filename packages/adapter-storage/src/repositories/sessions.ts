import { endedSessions, isSecretStill, type UserId, UserNotFound } from "@rangewright/domain"
import { mostSessions, Sessions } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../engine/database.ts"
import type { Transaction } from "../engine/transaction.ts"
import { sessions, toSession } from "../records/session.ts"
import { toSecrets } from "../records/user.ts"
import { first } from "../schema/table.ts"

/**
 * The user's secrets, locked on PostgreSQL until the transaction ends: replacing them afterwards then ends the session that begins here.
 */
const lockSecrets = (tx: Transaction, engine: Database["Service"]["engine"], userId: UserId) =>
  tx((db) => {
    const row = db.selectFrom("users").selectAll().where("id", "=", userId)
    return (engine === "postgresql" ? row.forUpdate() : row).execute().then(first(toSecrets))
  })

export const sessionsLayer: Layer.Layer<Sessions, never, Database> = Layer.effect(
  Sessions,
  Effect.gen(function* () {
    const database = yield* Database
    const byHash = database.cachedRead("find a session", "select * from sessions where hash = ?", first(toSession))
    const ofUser = database.list(
      "list the sessions of a user",
      "select * from sessions where user_id = ? order by created_at desc, id",
      toSession,
    )
    return {
      begin: (session, seen) =>
        database.write(`begin a session of ${session.userId}`, (tx) =>
          Effect.gen(function* () {
            const secrets = yield* lockSecrets(tx, database.engine, session.userId)
            if (secrets === undefined) return yield* new UserNotFound({ userId: session.userId })
            if (!isSecretStill(secrets, seen)) return false
            const ended = endedSessions(new Date(yield* Clock.currentTimeMillis))
            yield* tx((db) =>
              db
                .deleteFrom("sessions")
                .where(({ eb, or }) =>
                  or([
                    eb("created_at", "<=", ended.createdUntil.getTime()),
                    eb("created_at", ">=", ended.createdFrom.getTime()),
                    eb("last_seen_at", "<=", ended.lastSeenUntil.getTime()),
                  ]),
                )
                .execute(),
            )
            const own = yield* tx((db) =>
              db
                .selectFrom("sessions")
                .select("hash")
                .where("user_id", "=", session.userId)
                .orderBy("last_seen_at", "desc")
                .execute(),
            )
            const unused = own.slice(mostSessions - 1).map(({ hash }) => hash)
            if (unused.length > 0) yield* tx((db) => db.deleteFrom("sessions").where("hash", "in", unused).execute())
            yield* tx((db) => db.insertInto("sessions").values(sessions.write(session)).execute())
            return true
          }),
        ),
      find: byHash,
      of: ofUser,
      touch: (hash, at) =>
        database.write("store when a session was last used", (tx) =>
          tx((db) =>
            db
              .updateTable("sessions")
              .set({ last_seen_at: at.getTime() })
              .where("hash", "=", hash)
              .where("last_seen_at", "<", at.getTime())
              .execute(),
          ),
        ),
      end: (which) =>
        database.write("end sessions", (tx) =>
          Effect.map(
            tx((db) =>
              db
                .deleteFrom("sessions")
                .where((where) =>
                  where.and([
                    ...(which.userId === undefined ? [] : [where("user_id", "=", which.userId)]),
                    ...("id" in which ? [where("id", "=", which.id)] : []),
                  ]),
                )
                .executeTakeFirst(),
            ),
            ({ numDeletedRows }) => Number(numDeletedRows),
          ),
        ),
    }
  }),
)
