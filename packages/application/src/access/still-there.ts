import { type Range, RangeNotFound, type User, UserNotFound } from "@rangewright/domain"
import { Ranges, type StorageFault, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** Fails when one of these users or ranges was removed since it was found. */
export const stillThere = (known: {
  readonly users?: readonly User[]
  readonly ranges?: readonly Range[]
}): Effect.Effect<void, UserNotFound | RangeNotFound | StorageFault, Users | Ranges> =>
  Effect.gen(function* () {
    const users = yield* Users
    const ranges = yield* Ranges
    for (const { id } of known.users ?? [])
      if ((yield* users.find(id)) === undefined) return yield* new UserNotFound({ userId: id })
    for (const { id } of known.ranges ?? [])
      if ((yield* ranges.find(id)) === undefined) return yield* new RangeNotFound({ rangeId: id })
  })
