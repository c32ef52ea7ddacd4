import { payerOf, type Range } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** The user who is charged for the range, whose range it is; undefined: nobody has it directly. */
export const payerOfRange = Effect.fnUntraced(function* ({ id, madeFor }: Pick<Range, "id" | "madeFor">) {
  const ranges = yield* Ranges
  const direct = (yield* ranges.grants(id)).filter(({ accessType }) => accessType === "Direct")
  return payerOf(
    madeFor,
    direct.map(({ userId, userNumber }) => ({ id: userId, number: userNumber })),
  )
})
