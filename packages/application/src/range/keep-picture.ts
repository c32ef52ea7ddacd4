import type { Picture, Range } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { keeping } from "../disk/keeping.ts"
import { nameOfPicture } from "../disk/kept.ts"
import { payerOfRange } from "./payer-of-range.ts"

/** Stores a picture of a range, unless that exceeds the disk limit of the user who is charged for the range. */
export const keepingPicture =
  ({ id, recordId, madeFor }: Range, { bytes }: Picture) =>
  <A, E, R>(keep: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const owner = yield* payerOfRange({ id, madeFor })
      const becomes = () => Effect.succeed({ bytes: bytes.length })
      return yield* owner === undefined
        ? keep
        : keeping({ owner, doing: `change range ${id}`, name: nameOfPicture(recordId), becomes })(keep)
    })
