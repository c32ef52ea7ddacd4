import type { StorageFault } from "@rangewright/ports"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import { sql } from "kysely"
import { Database } from "./database.ts"
import { storageFault } from "./storage-fault.ts"
import { type Connection, connect, query, type QueryFailed } from "./transaction.ts"

const doing = "hold the name of this process"

/** The first of the two numbers that name these locks among PostgreSQL's advisory locks; the second is the hash of the name. */
const namesOfProcesses = 721_463_390

/** Seconds between two checks that the connection which holds the name still lives: until then another process could take the name. */
const lookEverySeconds = 5
/** Seconds before a lost name is taken again. */
const againSeconds = 1

const takenMeanwhile =
  "While this service was not connected to the database, another one took its name: both now continue each other's runs. If the data folder of one is a copy of the other's, restart this service: it then uses another name."

const asFault = <A>(asked: Effect.Effect<A, QueryFailed>) => Effect.mapError(asked, ({ cause }) => storageFault(doing, cause))

const isFree = ({ db }: Connection, name: string) =>
  Effect.map(
    query(() =>
      sql<{ free: boolean }>`select pg_try_advisory_lock(${namesOfProcesses}::int, hashtext(${name})) as free`.execute(db),
    ),
    ({ rows }) => rows[0]?.free === true,
  )

const giveBack = ({ db }: Connection, name: string) =>
  Effect.ignore(query(() => sql`select pg_advisory_unlock(${namesOfProcesses}::int, hashtext(${name}))`.execute(db)))

/**
 * Holds the name until the scope closes; false when another living process has it. On PostgreSQL a lock of a session of its own, which the
 * server releases however the process ends, and which is taken again when the connection is lost. On SQLite always true: a copied file is
 * another database, and the data folder's lock lets one service use each.
 */
export const holdName = (name: string): Effect.Effect<boolean, StorageFault, Database | Scope.Scope> =>
  Database.use((database) => {
    if (database.engine === "sqlite") return Effect.succeed(true)
    return Effect.gen(function* () {
      const first = yield* Deferred.make<boolean, StorageFault>()
      let isTaken = false
      const hold = Effect.gen(function* () {
        const connection = yield* Effect.acquireRelease(database.read(doing, connect), ({ release }) => Effect.sync(release))
        const free = yield* asFault(isFree(connection, name))
        const isFirst = yield* Deferred.succeed(first, free)
        if (!free && !isFirst && !isTaken) yield* Effect.logWarning(takenMeanwhile)
        isTaken = !free
        if (!free) return
        yield* Effect.addFinalizer(() => giveBack(connection, name))
        const look = asFault(query(() => sql`select 1`.execute(connection.db)))
        yield* Effect.forever(Effect.andThen(Effect.sleep(lookEverySeconds * 1000), look))
      })
      const again = hold.pipe(
        Effect.scoped,
        Effect.catch((fault) => Deferred.fail(first, fault)),
        Effect.andThen(Effect.sleep(againSeconds * 1000)),
      )
      const holder = yield* Effect.forkScoped(Effect.forever(again))
      const isOurs = yield* Deferred.await(first)
      // the process uses another name
      if (!isOurs) yield* Fiber.interrupt(holder)
      return isOurs
    })
  })
