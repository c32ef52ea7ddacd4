import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type Kysely, sql } from "kysely"
import type { Tables } from "../schema/tables.ts"

/** A query failed. `write` and `read` turn it into a fault that names the operation. */
export class QueryFailed extends Data.TaggedError("QueryFailed")<{ readonly cause: unknown }> {}

/** Runs a query inside the transaction. */
export type Transaction = <A>(query: (db: Kysely<Tables>) => Promise<A>) => Effect.Effect<A, QueryFailed>

export const query = <A>(run: () => Promise<A>): Effect.Effect<A, QueryFailed> =>
  Effect.tryPromise({ try: run, catch: (cause) => new QueryFailed({ cause }) })

/** A connection that nobody else uses until it is released. */
export interface Connection {
  readonly db: Kysely<Tables>
  readonly release: () => void
}

export const connect = (pool: Kysely<Tables>): Promise<Connection> =>
  new Promise((resolve, reject) => {
    pool
      .connection()
      .execute((db) => new Promise<void>((release) => resolve({ db, release })))
      .catch(reject)
  })

/** Runs a body in a transaction; returns once it is committed or rolled back. */
export type RunTransaction = <A, E>(body: (tx: Transaction) => Effect.Effect<A, E>) => Effect.Effect<A, E | QueryFailed>

/**
 * Runs the body in a transaction, and commits or rolls back by its result. An interruption waits for the rollback. Kysely's own
 * transactions are not used: one that cannot begin (locked file, lost server) never returns its connection.
 */
export const transactions =
  (pool: Kysely<Tables>): RunTransaction =>
  (body) =>
    Effect.acquireUseRelease(
      query(() => connect(pool)),
      ({ db }) => {
        const execute = (statement: string) => query(() => sql.raw(statement).execute(db))
        return Effect.acquireUseRelease(
          execute("begin"),
          () => body((run) => query(() => run(db))),
          // a failed rollback closes the connection: report why the body failed instead
          (_, exit) => (Exit.isSuccess(exit) ? execute("commit") : Effect.ignore(execute("rollback"))),
        )
      },
      ({ release }) => Effect.sync(release),
    )
