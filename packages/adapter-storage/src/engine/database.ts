import type { StorageFault } from "@rangewright/ports"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Kysely } from "kysely"
import { audited } from "./audited.ts"
import type { StoredRow } from "../schema/table.ts"
import type { Tables } from "../schema/tables.ts"
import { makeReadableRows } from "./lists.ts"
import type { Orm } from "./orm.ts"
import { isTransient, storageFault } from "./storage-fault.ts"
import { query, QueryFailed, type RunTransaction, type Transaction } from "./transaction.ts"
import { againWhileLocked } from "./while-locked.ts"
import { storableTextPlugin } from "./storable-text-plugin.ts"

/** The database under the repositories, on either engine. */
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
     * every other write waits. The body may run again from the start after a conflict with another transaction. The first transaction of an
     * audited operation (`CurrentAudit`) also commits the audit entry.
     */
    readonly write: Write
    /**
     * The same, but one at a time on PostgreSQL too: for writes that choose a free number, and for those that increment the revision, which
     * would otherwise deadlock on the revision's row.
     */
    readonly serializedWrite: Write
    /**
     * Milliseconds of one clock shared by all processes on this database: the server's. On SQLite, whose processes run on one host, that
     * host's monotonic clock.
     */
    readonly steadyMillis: (tx: Transaction) => Effect.Effect<number, QueryFailed>
    /** For how many milliseconds, as far as this process can tell, nobody has set that clock. */
    readonly steadyFor: () => number
    /** A hot read: SQL with `?` for parameters, prepared once, and a function that decodes its rows. */
    readonly prepared: PreparedReads
    /** The same for displayed lists: a damaged row is left out and logged once. */
    readonly list: ListReads
    /** Decodes the rows of other such lists. */
    readonly readable: ReturnType<typeof makeReadableRows>
    /**
     * A prepared read of a few rows that nearly every request makes. Returns what is committed at the time of the call. When the engine can
     * cheaply tell that nothing was committed, it returns the value of an earlier call: do not mutate it.
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

const causeOf = (fault: unknown): unknown => (fault instanceof QueryFailed ? fault.cause : undefined)

/** What differs between the engines. */
export interface Engine {
  readonly name: "sqlite" | "postgresql"
  readonly file: string | undefined
  /** Runs transactions on connections of the pool. */
  readonly transactions: (pool: Kysely<Tables>) => RunTransaction
  readonly prepared: PreparedReads
  readonly cachedRead: PreparedReads
  /** Waits for the lock of serialized writes, and holds it until the end of the transaction. */
  readonly lockWriter: (tx: Transaction) => Effect.Effect<void, QueryFailed>
  readonly steadyMillis: Database["Service"]["steadyMillis"]
  readonly steadyFor: () => number
}

export const makeDatabase = (
  orm: Orm,
  { name, file, transactions, prepared, cachedRead, lockWriter, steadyMillis, steadyFor }: Engine,
): Database["Service"] => {
  const readable = makeReadableRows()
  const pool = orm.em.fork().getKysely<Tables>().withPlugin(storableTextPlugin())
  const transaction = transactions(pool)
  const write: Write = <A, E>(doing: string, body: (tx: Transaction) => Effect.Effect<A, E | QueryFailed>) =>
    audited(body, transaction).pipe(
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
    steadyFor,
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
