import { payerOf, type Picture, type Range } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { keeping } from "../disk/keeping.ts"
import { nameOfPicture } from "../disk/kept.ts"

/** Stores a picture of a range, unless that exceeds the disk limit of the user who is charged for the range. */
export const keepingPicture =
  ({ id, recordId, madeFor }: Range, { bytes }: Picture) =>
  <A, E, R>(keep: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const ranges = yield* Ranges
      const direct = (yield* ranges.grants(id)).filter(({ accessType }) => accessType === "Direct")
      const owner = payerOf(
        madeFor,
        direct.map(({ userId, userNumber }) => ({ id: userId, number: userNumber })),
      )
      const becomes = () => Effect.succeed({ bytes: bytes.length })
      return yield* owner === undefined
        ? keep
        : keeping({ owner, doing: `change range ${id}`, name: nameOfPicture(recordId), becomes })(keep)
    })
