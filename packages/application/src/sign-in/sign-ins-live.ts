import { TooManyAttempts } from "@rangewright/domain"
import { AuditTrail, CredentialHasher, monotonicMillis, SecretStore } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Semaphore from "effect/Semaphore"
import { makeTally } from "./tally.ts"
import { makeThrottle } from "./throttle.ts"
import { type Attempt, SignIns } from "./sign-ins.ts"

const writeEvery = "10 minutes"
/** Milliseconds of waiting from which on the log reports it, each time it grows. */
const toldFrom = 4_000

const seconds = (milliseconds: number): number => Math.ceil(milliseconds / 1000)

const make = Effect.gen(function* () {
  const trail = yield* AuditTrail
  const secrets = yield* SecretStore
  const hasher = yield* CredentialHasher
  const context = "nobody's password"
  const decoy = { context, sealed: secrets.seal(hasher.randomText(15), context) }
  const throttle = makeThrottle()
  const tally = makeTally()
  const counts = { right: 0, wrong: 0, throttled: 0 }
  // one after another: many that arrive together would all be checked before the first is known to be wrong
  const turn = Semaphore.makeUnsafe(1)

  const flush = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.forEach(tally.take(now), (entry) => trail.record(entry).pipe(Effect.ignoreCause({ log: "Error" })), { discard: true }),
  )
  yield* Effect.addFinalizer(() => flush)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(writeEvery), flush)))

  const admit = Effect.fnUntraced(function* (attempt: Attempt) {
    const wait = throttle.wait(attempt, yield* monotonicMillis)
    if (wait === 0) return
    counts.throttled++
    tally.add(attempt, throttle.userOf(attempt), "throttled", yield* Clock.currentTimeMillis)
    return yield* new TooManyAttempts({ seconds: seconds(wait), of: attempt.account === undefined ? "codes" : "passwords" })
  })

  const attempt: SignIns["Service"]["attempt"] = (sent, check) =>
    Effect.gen(function* () {
      const judged = yield* check
      const { user, right } = judged
      if (right) {
        counts.right++
        throttle.right(sent)
        return judged
      }
      counts.wrong++
      tally.add(sent, user?.id, "wrong", yield* Clock.currentTimeMillis)
      const wait = throttle.wrong(sent, yield* monotonicMillis, user?.id)
      if (wait >= toldFrom)
        yield* Effect.logWarning("too many failed sign-ins: the next attempt has to wait", {
          operation: sent.operation,
          user: user?.id ?? "unknown",
          address: sent.address,
          seconds: seconds(wait),
        })
      return undefined
    }).pipe((look) =>
      sent.account === undefined
        ? Effect.andThen(admit(sent), look)
        : Effect.andThen(admit(sent), turn.withPermit(Effect.andThen(admit(sent), look))),
    )

  return SignIns.of({ attempt, counts: () => ({ ...counts }), decoy, flush })
})

/** Attempts are kept in memory: a restarted process has forgotten them, and each of several processes counts separately. */
export const signInsLayer: Layer.Layer<SignIns, never, AuditTrail | CredentialHasher | SecretStore> = Layer.effect(SignIns, make)
