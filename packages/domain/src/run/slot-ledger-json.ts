import * as Schema from "effect/Schema"
import { isRunId, isUserId } from "../access/ids.ts"
import type { SlotLedger } from "./share-slots.ts"

const seconds = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))
const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const by = Schema.String.pipe(Schema.refine(isUserId))

/** The stored form of a ledger. */
export const SlotLedgerJson = Schema.Struct({
  now: seconds,
  owners: Schema.Array(Schema.Struct({ by, due: seconds, now: seconds })),
  runs: Schema.Array(
    Schema.Struct({
      run: Schema.String.pipe(Schema.refine(isRunId)),
      generation: count,
      by,
      held: count,
      had: seconds,
      waiting: Schema.Array(seconds),
      due: seconds,
    }),
  ),
}) satisfies Schema.Codec<SlotLedger, unknown>
