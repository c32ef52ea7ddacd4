import type { StorageFault } from "@rangewright/ports"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type Kysely, sql } from "kysely"
import { audited } from "./audited.ts"
import type { StoredRow } from "../schema/table.ts"
import type { Tables } from "../schema/tables.ts"
import { makeReadableRows } from "./lists.ts"
import type { Orm } from "./orm.ts"
import { isTransient, storageFault } from "./storage-fault.ts"
import { againWhileLocked } from "./while-locked.ts"
import { storableTextPlugin } from "./storable-text-plugin.ts"

/** A query failed. `write` and `read` turn it into a fault that names the operation. */
export class QueryFailed extends Data.TaggedError("QueryFailed")<{ readonly cause: unknown }> {}

/** Runs one query of a transaction. */
export type Transaction = <A>(query: (db: Kysely<Tables>) => Promise<A>) => Effect.Effect<A, QueryFailed>

/** The database under the repositories, of either engine. */
export class Database extends Context.Service<
  Database,
  {
    readonly engine: "sqlite" | "postgresql"
    /** SQLite's file; undefined on PostgreSQL. */
    readonly file: string | undefined
    /** A read outside a transaction. */
    readonly read: <A>(doing: string, query: (db: Kysely<Tables>) => Promise<A>) => Effect.Effect<A, StorageFault>
    /**
     * One transaction: commits when the body succeeds, rolls back when it fails or is interrupted. Keep the body short and local: on SQLite
     * every other write waits. The body may run again from its start after a conflict with another transaction. The first transaction of an
     * audited operation (`CurrentAudit`) also commits the audit entry.
     */
    readonly write: Write
    /**
     * The same, but one at a time on PostgreSQL too: for writes that choose a free number and for those that raise the revision, which would
     * otherwise deadlock at the row of the revision.
     */
    readonly serializedWrite: Write
    /**
     * Milliseconds of one clock for all processes on this database: the server's. On SQLite, whose processes are on one host, the monotonic
     * clock of that host.
     */
    readonly steadyMillis: (tx: Transaction) => Effect.Effect<number, QueryFailed>
    /** A hot read: SQL with `?` for its parameters, prepared once, and the function that decodes its rows. */
    readonly prepared: PreparedReads
    /** The same for lists that are shown: a damaged row is left out, and logged once. */
    readonly list: ListReads
    /** Decodes the rows of any other such list. */
    readonly readable: ReturnType<typeof makeReadableRows>
    /**
     * A prepared read of few rows that nearly every request makes. Returns what is committed at the time of the call. Where the engine can
     * tell cheaply that nothing was committed, it returns the value of an earlier call: do not mutate it.
     */
    readonly cachedRead: PreparedReads
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

interface Connection {
  readonly db: Kysely<Tables>
  readonly release: () => void
}

/** One connection of the pool, until it is released. */
const connect = (pool: Kysely<Tables>): Promise<Connection> =>
  new Promise((resolve, reject) => {
    pool
      .connection()
      .execute((db) => new Promise<void>((release) => resolve({ db, release })))
      .catch(reject)
  })

/**
 * Runs the body in a transaction, and commits or rolls back by its outcome. An interruption waits for the rollback. Kysely's own transactions
 * are not used: one that cannot begin (the file is locked, the server is lost) never returns its connection.
 */
const transaction = <A, E>(
  pool: Kysely<Tables>,
  begin: string,
  body: (tx: Transaction) => Effect.Effect<A, E>,
): Effect.Effect<A, E | QueryFailed> =>
  Effect.acquireUseRelease(
    query(() => connect(pool)),
    ({ db }) => {
      const execute = (statement: string) => query(() => sql.raw(statement).execute(db))
      return Effect.acquireUseRelease(
        execute(begin),
        () => body((run) => query(() => run(db))),
        // a failed rollback ends with its connection: report why the body failed
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
  readonly cachedRead: PreparedReads
  /** Waits for the lock of serialized writes, and holds it until the end of the transaction. */
  readonly lockWriter: (tx: Transaction) => Effect.Effect<void, QueryFailed>
  readonly steadyMillis: Database["Service"]["steadyMillis"]
}

export const makeDatabase = (
  orm: Orm,
  { name, file, begin, prepared, cachedRead, lockWriter, steadyMillis }: Engine,
): Database["Service"] => {
  const readable = makeReadableRows()
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
      return (...parameters) => Effect.flatMap(rows(...parameters), (found) => readable(found, meaning))
    },
    readable,
    cachedRead,
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
    serializedWrite: (doing, body) => write(doing, (tx) => Effect.andThen(lockWriter(tx), body(tx))),
  }
}
