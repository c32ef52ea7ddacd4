import type { RangeId, UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Activity timestamps (`lastActive`), kept in memory and written in batches, so that a read request costs no write. */
export class Activity extends Context.Service<
  Activity,
  {
    readonly user: (id: UserId, at: Date) => void
    readonly range: (id: RangeId, at: Date) => void
    /** The newest stamp known of a range, written or not. */
    readonly lastOfRange: (id: RangeId) => Date | undefined
    /** Sets why the last check for idle ranges left this one on although it was idle long enough; undefined clears it. */
    readonly keptOn: (id: RangeId, because: string | undefined) => void
    readonly keptOnBecause: (id: RangeId) => string | undefined
    /** Writes what has gathered; also called at stop. */
    readonly flush: Effect.Effect<void>
  }
>()("rangewright/Activity") {}
