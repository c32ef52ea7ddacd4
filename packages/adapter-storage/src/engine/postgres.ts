import { Migrator } from "@mikro-orm/migrations"
import { MikroORM } from "@mikro-orm/postgresql"
import { StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { CompiledQuery, sql } from "kysely"
import { postgresMigrations } from "../migrations/index.ts"
import { entities } from "../schema/tables.ts"
import { Database, makeDatabase, type PreparedReads } from "./database.ts"
import { type Transaction, transactions } from "./transaction.ts"
import { type MigrationList, migratePostgres, migrationOptions, type OlderData } from "./migrate.ts"
import type { Orm } from "./orm.ts"
import { watchServerClock } from "./server-clock.ts"
import { restoreRow, toStorable } from "./storable-text.ts"
import { storageFault } from "./storage-fault.ts"

/**
 * A process that stalls in the middle of a transaction (stopped, swapped out, disconnected) would keep its locks and block every other
 * instance. The server ends its transaction after this time; ours are a few statements long. Well below a run's lease.
 */
const stalledAfterMilliseconds = 10_000

export const postgresOrm = (
  url: string,
  migrations: MigrationList = postgresMigrations,
  stalledAfter = stalledAfterMilliseconds,
): Promise<MikroORM> =>
  MikroORM.init({
    entities: [...entities],
    extensions: [Migrator],
    // a database is never created without the operator's knowledge
    ensureDatabase: false,
    clientUrl: url,
    pool: { min: 0, max: 10 },
    driverOptions: {
      connectionTimeoutMillis: 10_000,
      application_name: "rangewright",
      idle_in_transaction_session_timeout: stalledAfter,
    },
    migrations: migrationOptions(migrations),
  })

const preparedOn =
  (orm: Orm): PreparedReads =>
  (doing, text, meaning) => {
    let n = 0
    const numbered = text.replaceAll("?", () => `$${++n}`)
    const db = orm.em.fork().getKysely()
    return (...parameters) =>
      Effect.tryPromise({
        try: async () => {
          const values = parameters.map((value) => (typeof value === "string" ? toStorable(value) : value))
          const { rows } = await db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(numbered, values))
          return meaning(rows.map(restoreRow))
        },
        catch: (cause) => storageFault(doing, cause),
      })
  }

const lockWriter = (tx: Transaction) =>
  Effect.asVoid(tx((db) => sql`select pg_advisory_xact_lock(hashtext('rangewright write'))`.execute(db)))

/** The server's clock, which advances even inside a transaction. */
const serverMillis = (tx: Transaction) =>
  Effect.map(
    tx((db) => sql<{ now: string }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`.execute(db)),
    ({ rows }) => Number(rows[0]?.now),
  )

/** Connects and migrates the database, or refuses an older one if told so. */
export const postgresLayer = (
  url: string,
  migrations?: MigrationList,
  stalledAfter?: number,
  older?: OlderData,
): Layer.Layer<Database, StorageFault> =>
  Layer.effect(
    Database,
    Effect.gen(function* () {
      const doing = "open the database"
      if (!/^postgres(?:ql)?:\/\/[^/]*\/./u.test(url))
        return yield* new StorageFault({ doing, because: "its URL is not postgres://user:password@host/database" })
      const opened = <A>(open: () => Promise<A>) => Effect.tryPromise({ try: open, catch: (cause) => storageFault(doing, cause) })
      const orm = yield* Effect.acquireRelease(
        opened(() => postgresOrm(url, migrations, stalledAfter)),
        (made) => Effect.promise(() => made.close()),
      )
      yield* opened(() => migratePostgres(orm, migrations ?? postgresMigrations, older))
      const prepared = preparedOn(orm)
      // checking for commits is a round trip to the server, as expensive as the read itself
      const { saw, steadyFor } = watchServerClock()
      const steadyMillis = (tx: Transaction) => Effect.tap(serverMillis(tx), (now) => Effect.sync(() => saw(now)))
      const engine = { prepared, cachedRead: prepared, lockWriter, steadyMillis, steadyFor }
      return makeDatabase(orm, { name: "postgresql", file: undefined, transactions, ...engine })
    }),
  )
