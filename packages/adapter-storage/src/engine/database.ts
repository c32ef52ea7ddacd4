import type { StorageFault } from "@rangewright/ports"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type Kysely, sql } from "kysely"
import { audited } from "./audited.ts"
import type { StoredRow } from "../schema/table.ts"
import type { Tables } from "../schema/tables.ts"
import { makeShown } from "./lists.ts"
import type { Orm } from "./orm.ts"
import { isTransient, storageFault } from "./storage-fault.ts"
import { againWhileLocked } from "./while-locked.ts"
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
     * and local: on SQLite every other write waits. The body may run again from its beginning when somebody else was in its way. The
     * first one of an audited operation (`CurrentAudit`) commits its entry with it.
     */
    readonly write: Write
    /**
     * The same, one after another on PostgreSQL too: for writes that choose a free number and for those that raise the revision. These
     * would meet at the revision's row anyway, each with other rows in its hands.
     */
    readonly writeAlone: Write
    /**
     * Milliseconds of one clock for everybody on this database, whatever the clocks of their hosts say: the server's; on SQLite, whose
     * processes are on one host, that of the host which nobody sets.
     */
    readonly steadyMillis: (tx: Transaction) => Effect.Effect<number, QueryFailed>
    /** A hot read: SQL that is prepared once, with `?` for its parameters, to what its rows mean. */
    readonly prepared: PreparedReads
    /** The same for a list that is shown: a damaged row is left out, and the log says so once. */
    readonly list: ListReads
    /** What the rows of any other such list mean. */
    readonly shown: ReturnType<typeof makeShown>
    /**
     * A prepared read of few rows that nearly every request makes, and what the rows mean. It tells what is committed when it is asked.
     * Where the engine tells cheaply that nothing was committed, the value that was made before is given again: it must not be changed.
     */
    readonly kept: PreparedReads
  }
>()("rangewright/Database") {}

export type Write = <A, E>(
  doing: string,
  body: (tx: Transaction) => Effect.Effect<A, E | QueryFailed>,
) => Effect.Effect<A, Exclude<E, QueryFailed> | StorageFault>

/** `meaning` may throw `DamagedRow`. */
export type PreparedReads = <A>(
  doing: string,
  sql: string,
  meaning: (rows: readonly StoredRow[]) => A,
) => (...parameters: readonly (string | number)[]) => Effect.Effect<A, StorageFault>

export type ListReads = <A>(
  doing: string,
  sql: string,
  meaning: (row: StoredRow) => A,
) => (...parameters: readonly (string | number)[]) => Effect.Effect<readonly A[], StorageFault>

const repeats = 5

const query = <A>(run: () => Promise<A>): Effect.Effect<A, QueryFailed> =>
  Effect.tryPromise({ try: run, catch: (cause) => new QueryFailed({ cause }) })

const causeOf = (fault: unknown): unknown => (fault instanceof QueryFailed ? fault.cause : undefined)

interface Held {
  readonly db: Kysely<Tables>
  readonly release: () => void
}

/** One connection of the pool, until it is released. */
const hold = (pool: Kysely<Tables>): Promise<Held> =>
  new Promise((resolve, reject) => {
    pool
      .connection()
      .execute((db) => new Promise<void>((release) => resolve({ db, release })))
      .catch(reject)
  })

/**
 * Begins, runs the body, and ends the transaction by how the body ended. An interruption waits for the rollback. Kysely's own
 * transactions are not used: one that cannot begin (the file is locked, the server is lost) never gives its connection back.
 */
const transaction = <A, E>(
  pool: Kysely<Tables>,
  begin: string,
  body: (tx: Transaction) => Effect.Effect<A, E>,
): Effect.Effect<A, E | QueryFailed> =>
  Effect.acquireUseRelease(
    query(() => hold(pool)),
    ({ db }) => {
      const execute = (statement: string) => query(() => sql.raw(statement).execute(db))
      return Effect.acquireUseRelease(
        execute(begin),
        () => body((run) => query(() => run(db))),
        // a transaction that cannot be rolled back is gone with its connection: why the body failed is what counts
        (_, exit) => (Exit.isSuccess(exit) ? execute("commit") : Effect.ignore(execute("rollback"))),
      )
    },
    ({ release }) => Effect.sync(release),
  )

/** What differs between the engines. */
export interface Engine {
  readonly name: "sqlite" | "postgresql"
  readonly file: string | undefined
  /** Begins a transaction that may write. */
  readonly begin: string
  readonly prepared: PreparedReads
  readonly kept: PreparedReads
  /** Waits for its turn among the writes that run alone; has it until the end of the transaction. */
  readonly takeTurn: (tx: Transaction) => Effect.Effect<void, QueryFailed>
  readonly steadyMillis: Database["Service"]["steadyMillis"]
}

export const makeDatabase = (
  orm: Orm,
  { name, file, begin, prepared, kept, takeTurn, steadyMillis }: Engine,
): Database["Service"] => {
  const shown = makeShown()
  const pool = orm.em.fork().getKysely<Tables>().withPlugin(storableTextPlugin())
  const write: Write = <A, E>(doing: string, body: (tx: Transaction) => Effect.Effect<A, E | QueryFailed>) =>
    audited(body, (whole) => transaction(pool, begin, whole)).pipe(
      Effect.retry({ times: repeats, while: (fault) => fault instanceof QueryFailed && isTransient(fault.cause) }),
      (whole) => againWhileLocked(whole, causeOf),
      Effect.mapError((fault) =>
        fault instanceof QueryFailed ? storageFault(doing, fault.cause) : (fault as Exclude<E, QueryFailed>),
      ),
    )
  return {
    engine: name,
    file,
    prepared,
    list: (doing, text, meaning) => {
      const rows = prepared(doing, text, (found) => found)
      return (...parameters) => Effect.flatMap(rows(...parameters), (found) => shown(found, meaning))
    },
    shown,
    kept,
    steadyMillis,
    read: (doing, run) =>
      Effect.mapError(
        againWhileLocked(
          query(() => run(pool)),
          causeOf,
        ),
        ({ cause }) => storageFault(doing, cause),
      ),
    write,
    writeAlone: (doing, body) => write(doing, (tx) => Effect.andThen(takeTurn(tx), body(tx))),
  }
}
