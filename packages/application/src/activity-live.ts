import type { RangeId, UserId } from "@rangewright/domain"
import { Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Activity, type RangeUse } from "./activity.ts"

/** Seconds between writes: a crash loses at most the stamps of this time, and other processes do not know them until then. */
export const activityWrittenAfterSeconds = 10

const make = Effect.gen(function* () {
  const users = yield* Users
  const ranges = yield* Ranges
  const ofUsers = new Map<UserId, Date>()
  const ofRanges = new Map<RangeId, Date>()
  const latest = new Map<RangeId, RangeUse>()
  const kept = new Map<RangeId, string>()
  let countsFrom: Date | undefined

  const write = <K>(pending: Map<K, Date>, touch: (stamps: ReadonlyMap<K, Date>) => Effect.Effect<void, unknown>) =>
    Effect.suspend(() => {
      if (pending.size === 0) return Effect.void
      const stamps = new Map(pending)
      pending.clear()
      // a stamp that cannot be written is kept for the next time, unless a newer one came
      const keep = Effect.sync(() => stamps.forEach((at, key) => pending.has(key) || pending.set(key, at)))
      return touch(stamps).pipe(
        Effect.onError(() => keep),
        // not even a defect may end the writing
        Effect.ignoreCause({ log: "Warn" }),
      )
    })
  const flush = Effect.andThen(write(ofUsers, users.touch), write(ofRanges, ranges.touch))

  yield* Effect.addFinalizer(() => flush)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(activityWrittenAfterSeconds * 1000), flush)))
  return Activity.of({
    user: (id, at) => void ofUsers.set(id, at),
    range: (id, use) => {
      ofRanges.set(id, use.at)
      latest.set(id, use)
    },
    lastOfRange: (id) => latest.get(id),
    keptOn: (id, because) => void (because === undefined ? kept.delete(id) : kept.set(id, because)),
    keptOnBecause: (id) => kept.get(id),
    countIdleFrom: (at) => {
      countsFrom = at
    },
    idleCountsFrom: () => countsFrom,
    flush,
  })
})

/** Activity in memory, written every ten seconds and when the layer is closed. */
export const activityLayer: Layer.Layer<Activity, never, Users | Ranges> = Layer.effect(Activity, make)
