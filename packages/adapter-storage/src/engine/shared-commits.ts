import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Semaphore from "effect/Semaphore"
import { type Kysely, sql } from "kysely"
import type { Tables } from "../schema/tables.ts"
import { type Connection, connect, query, type QueryFailed, type RunTransaction, type Transaction } from "./transaction.ts"

/** Takes the write lock at once, so that what is read is still true when it is written. */
const begin = "begin immediate"
/** Transactions that share a commit at most: the first waits for the last. */
const most = 32

/** What is committed together, and whether it was. */
interface Shared {
  readonly connection: Connection
  readonly outcome: Deferred.Deferred<Exit.Exit<void, QueryFailed>>
  size: number
}

const turnOfTheEventLoop = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

/**
 * Transactions one after another on one connection, where those that wait for each other anyway share a commit: SQLite writes a page, and waits for the
 * disk, once for all that changed it. Each ends when it is committed. One that fails leaves nothing, and takes no other with it: it is rolled back to where
 * it began, and where the shared commit fails, each is run again with a commit of its own.
 */
export const sharedCommits = (pool: Kysely<Tables>): RunTransaction => {
  const turn = Semaphore.makeUnsafe(1)
  let waiting = 0
  let open: Shared | undefined

  const execute = ({ connection: { db } }: Shared, statement: string) => query(() => sql.raw(statement).execute(db))

  const opened = Effect.gen(function* () {
    const connection = yield* query(() => connect(pool))
    const shared: Shared = { connection, outcome: Deferred.makeUnsafe(), size: 0 }
    yield* Effect.tapError(execute(shared, begin), () => Effect.sync(connection.release))
    open = shared
    return shared
  })
  /** Commits what is open, or rolls it back for a failure. */
  const end = (shared: Shared, failed?: Exit.Failure<unknown, QueryFailed>) =>
    Effect.gen(function* () {
      open = undefined
      if (failed !== undefined) yield* Effect.ignore(execute(shared, "rollback"))
      const outcome = failed ?? (yield* Effect.exit(Effect.asVoid(execute(shared, "commit"))))
      shared.connection.release()
      yield* Deferred.succeed(shared.outcome, outcome)
    })

  /** Runs the body from a savepoint. It cannot be closed where SQLite itself rolled back all that is open, as on a full disk. */
  const runIn = <A, E>(shared: Shared, body: Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Effect.andThen(execute(shared, "savepoint its_own"), body))
      if (Exit.isFailure(exit)) yield* Effect.ignore(execute(shared, "rollback to its_own"))
      return { exit, closed: yield* Effect.exit(execute(shared, "release its_own")) }
    })
  const run = <A, E>(body: (tx: Transaction) => Effect.Effect<A, E>, isAlone: boolean): Effect.Effect<A, E | QueryFailed> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        waiting += 1
        yield* turn.take(1)
        waiting -= 1
        const { shared, exit } = yield* Effect.ensuring(
          Effect.gen(function* () {
            if (isAlone && open !== undefined) yield* end(open)
            const shared = open ?? (yield* opened)
            shared.size += 1
            const tx: Transaction = (run) => query(() => run(shared.connection.db))
            // a body that throws before it is an effect fails like any other
            const { exit, closed } = yield* runIn(shared, restore(Effect.suspend(() => body(tx))))
            // what came in the same turn has been told by then, and writes too
            if (waiting === 0 && !isAlone) yield* turnOfTheEventLoop
            if (Exit.isFailure(closed)) yield* end(shared, closed)
            else if (isAlone || waiting === 0 || shared.size >= most) yield* end(shared)
            return { shared, exit }
          }),
          turn.release(1),
        )
        const committed = yield* Deferred.await(shared.outcome)
        if (Exit.isFailure(committed) && shared.size > 1) return yield* restore(run(body, true))
        return yield* Exit.isSuccess(exit) && Exit.isFailure(committed) ? Exit.failCause(committed.cause) : exit
      }),
    )
  return (body) => run(body, false)
}
