import type { OtherRange, Range } from "@rangewright/domain"
import { Ranges, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** All ranges but this one, with what matters for the names of machines and pools. */
export const otherRanges = (
  range: Pick<Range, "id" | "number" | "createdAt">,
): Effect.Effect<readonly OtherRange[], StorageFault, Ranges> =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const others = (yield* ranges.list()).filter(({ id }) => id !== range.id)
    const own = range.createdAt.getTime()
    return others.map(({ id, createdAt }) => ({ id, younger: createdAt.getTime() >= own }))
  })
