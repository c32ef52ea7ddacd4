import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Semaphore from "effect/Semaphore"
import { type Kysely, sql } from "kysely"
import type { Tables } from "../schema/tables.ts"
import { type Connection, connect, query, type QueryFailed, type RunTransaction, type Transaction } from "./transaction.ts"

/** Takes the write lock at once, so that what was read is still true at the time of the write. */
const begin = "begin immediate"
/** Largest number of transactions that share a commit: the first waits for the last. */
const most = 32

/** Transactions that are committed together, and whether they were. */
interface Shared {
  readonly connection: Connection
  readonly outcome: Deferred.Deferred<Exit.Exit<void, QueryFailed>>
  size: number
}

const turnOfTheEventLoop = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

/**
 * Runs transactions one after another on one connection, and lets those that wait for each other anyway share a commit: SQLite then writes
 * each changed page, and waits for the disk, once for all of them. Each transaction ends when it is committed. A failing one leaves nothing
 * and does not affect the others: it is rolled back to its savepoint. If the shared commit fails, each is run again with its own commit.
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
  /** Commits the open transaction, or rolls it back after a failure. */
  const end = (shared: Shared, failed?: Exit.Failure<unknown, QueryFailed>) =>
    Effect.gen(function* () {
      open = undefined
      if (failed !== undefined) yield* Effect.ignore(execute(shared, "rollback"))
      const outcome = failed ?? (yield* Effect.exit(Effect.asVoid(execute(shared, "commit"))))
      shared.connection.release()
      yield* Deferred.succeed(shared.outcome, outcome)
    })

  /** Runs the body from a savepoint. The savepoint cannot be closed if SQLite itself rolled everything back, as on a full disk. */
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
            // a body that throws synchronously fails like any other
            const { exit, closed } = yield* runIn(shared, restore(Effect.suspend(() => body(tx))))
            // gives requests of the same turn a chance to join with their writes
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
