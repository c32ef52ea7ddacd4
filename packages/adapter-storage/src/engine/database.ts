import type { StorageFault } from "@rangewright/ports"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Kysely } from "kysely"
import type { Orm, Tables } from "./orm.ts"
import { isTransient, storageFault } from "./storage-fault.ts"
import { storableTextPlugin } from "./storable-text-plugin.ts"

/** A query failed; `write` and `read` make it the fault of what they were doing. */
export class QueryFailed extends Data.TaggedError("QueryFailed")<{ readonly cause: unknown }> {}

/** Runs one query of a transaction. */
export type Transaction = <A>(query: (db: Kysely<Tables>) => Promise<A>) => Effect.Effect<A, QueryFailed>

/** What the repositories stand on: one database of either engine. */
export class Database extends Context.Service<
  Database,
  {
    readonly engine: "sqlite" | "postgresql"
    /** SQLite's file; undefined on PostgreSQL. */
    readonly file: string | undefined
    /** A read outside of any transaction. */
    readonly read: <A>(doing: string, query: (db: Kysely<Tables>) => Promise<A>) => Effect.Effect<A, StorageFault>
    /**
     * One transaction: it commits when the body succeeds, and leaves nothing when the body fails or is interrupted. Keep the body short
     * and local: on SQLite every other write waits. Writes that name the same `alone` run one after another on PostgreSQL too; every
     * write that chooses a free number is one of them.
     */
    readonly write: <A, E>(
      doing: string,
      body: (tx: Transaction) => Effect.Effect<A, E | QueryFailed>,
      alone?: "numbers" | "vmids" | "observation",
    ) => Effect.Effect<A, Exclude<E, QueryFailed> | StorageFault>
    /** A hot read: SQL that is prepared once, with `?` for its parameters, to plain rows. */
    readonly prepared: PreparedReads
  }
>()("rangewright/Database") {}

export type PreparedReads = <Row>(
  doing: string,
  sql: string,
) => (...parameters: readonly (string | number)[]) => Effect.Effect<readonly Row[], StorageFault>

const repeats = 5

const query = <A>(run: () => Promise<A>): Effect.Effect<A, QueryFailed> =>
  Effect.tryPromise({ try: run, catch: (cause) => new QueryFailed({ cause }) })

/** Begins, runs the body, and ends the transaction by how the body ended. An interruption waits for the rollback. */
const transaction = <A, E>(orm: Orm, body: (tx: Transaction) => Effect.Effect<A, E>): Effect.Effect<A, E | QueryFailed> =>
  Effect.acquireUseRelease(
    query(async () => {
      const em = orm.em.fork()
      await em.begin()
      return em
    }),
    (em) => {
      const db = em.getKysely<Tables>().withPlugin(storableTextPlugin())
      return body((run) => query(() => run(db)))
    },
    (em, exit) => query(() => (Exit.isSuccess(exit) ? em.commit() : em.rollback())),
  )

export const makeDatabase = (
  orm: Orm,
  engine: "sqlite" | "postgresql",
  file: string | undefined,
  prepared: PreparedReads,
  takeLock: (tx: Transaction, name: string) => Effect.Effect<void, QueryFailed>,
): Database["Service"] => {
  const pool = orm.em.fork().getKysely<Tables>().withPlugin(storableTextPlugin())
  return {
    engine,
    file,
    prepared,
    read: (doing, run) =>
      Effect.mapError(
        query(() => run(pool)),
        ({ cause }) => storageFault(doing, cause),
      ),
    write: <A, E>(
      doing: string,
      body: (tx: Transaction) => Effect.Effect<A, E | QueryFailed>,
      alone?: "numbers" | "vmids" | "observation",
    ) =>
      transaction(orm, (tx) => (alone === undefined ? body(tx) : Effect.andThen(takeLock(tx, alone), body(tx)))).pipe(
        Effect.retry({ times: repeats, while: (fault) => fault instanceof QueryFailed && isTransient(fault.cause) }),
        Effect.mapError((fault) =>
          fault instanceof QueryFailed ? storageFault(doing, fault.cause) : (fault as Exclude<E, QueryFailed>),
        ),
      ),
  }
}
