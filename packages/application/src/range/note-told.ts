import type { RangeId } from "@rangewright/domain"
import { AccessRecords, beingTold } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/**
 * Records that the router of a range may let in these users too, besides those recorded before; because of that it will be updated again.
 * May be repeated.
 */
export const noteTold = Effect.fnUntraced(function* (range: RangeId, may: readonly number[]) {
  const access = yield* AccessRecords
  const numbers = new Set([beingTold, ...((yield* access.told).get(range) ?? []), ...may])
  yield* access.tell(
    range,
    [...numbers].sort((a, b) => a - b),
  )
})
