import { monotonicMillis, type StorageFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "./database.ts"

/** Seconds between two queries of the server's clock. */
const lookEverySeconds = 60
/** Answers that took longer than these milliseconds, as when the process was suspended, are too inaccurate. */
const answerWithin = 2000
/** A difference from the host's clock of this many milliseconds is logged. */
const toldFrom = 5000

/** The server's clock at a moment of this host's monotonic clock (milliseconds), accurate to `within` either way. */
interface Look {
  readonly at: number
  readonly server: number
  readonly within: number
}

const look: Effect.Effect<Look, StorageFault, Database> = Database.use((database) =>
  database.write("read the time of the database's server", (tx) =>
    Effect.gen(function* () {
      const asked = yield* monotonicMillis
      const server = yield* database.steadyMillis(tx)
      const answered = yield* monotonicMillis
      return { at: (asked + answered) / 2, server, within: (answered - asked) / 2 }
    }),
  ),
)

const millisOf = (nanos: bigint): number => Number(nanos / 1000n) / 1000

/** A clock that advances with `own` monotonic time but shows the server's time of day, adjusted now and then. */
const following = (own: Clock.Clock, ahead: () => number): Clock.Clock => {
  const millis = () => Math.floor(millisOf(own.monotonicTimeNanosUnsafe()) + ahead())
  const nanos = () => own.monotonicTimeNanosUnsafe() + BigInt(Math.floor(ahead() * 1000)) * 1000n
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => own.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: own.monotonicTimeNanos,
    sleep: (duration) => own.sleep(duration),
  }
}

/**
 * The time of day for all processes that share a database server: the server's, whatever their hosts' clocks say, so that what one of them
 * has written is never in another's future. On SQLite it remains the host's.
 */
export const databaseClockLayer: Layer.Layer<never, StorageFault, Database> = Layer.effect(
  Clock.Clock,
  Effect.gen(function* () {
    const database = yield* Database
    const own = yield* Clock.clockWith(Effect.succeed)
    if (database.engine === "sqlite") return own
    const first = yield* look
    let ahead = first.server - first.at
    const apart = own.currentTimeMillisUnsafe() - (millisOf(own.monotonicTimeNanosUnsafe()) + ahead)
    if (Math.abs(apart) >= toldFrom)
      yield* Effect.logWarning(
        "the clock of this host differs from that of the database server, which is authoritative: correct it",
        {
          secondsAhead: Math.round(apart / 1000),
        },
      )
    const follow = Effect.map(look, ({ at, server, within }) => {
      // a difference within the margin of error changes nothing, so that time does not jump back and forth
      if (within * 2 <= answerWithin && Math.abs(server - at - ahead) > within + 1) ahead = server - at
    })
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(lookEverySeconds * 1000), Effect.ignore(follow))))
    return following(own, () => ahead)
  }),
)
