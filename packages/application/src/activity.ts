import type { RangeId, UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Stamps of activity, kept in memory and written together, so that a read costs no write (`lastActive`). */
export class Activity extends Context.Service<
  Activity,
  {
    readonly user: (id: UserId, at: Date) => void
    readonly range: (id: RangeId, at: Date) => void
    /** The newest stamp known of a range, written or not. */
    readonly lastOfRange: (id: RangeId) => Date | undefined
    /** Why the last look for idle ranges left this one on, which was idle long enough; undefined: it did not. */
    readonly keptOn: (id: RangeId, because: string | undefined) => void
    readonly keptOnBecause: (id: RangeId) => string | undefined
    /** Writes what has gathered; also called at stop. */
    readonly flush: Effect.Effect<void>
  }
>()("rangewright/Activity") {}
