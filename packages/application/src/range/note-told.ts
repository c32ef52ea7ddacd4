import type { RangeId } from "@rangewright/domain"
import { AccessRecords, beingTold } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** Notes that the router of a range may let these users in, too, and what else it had before: it is told again because of it. Repeating it is safe. */
export const noteTold = Effect.fnUntraced(function* (range: RangeId, may: readonly number[]) {
  const access = yield* AccessRecords
  const numbers = new Set([beingTold, ...((yield* access.told).get(range) ?? []), ...may])
  yield* access.tell(
    range,
    [...numbers].sort((a, b) => a - b),
  )
})
