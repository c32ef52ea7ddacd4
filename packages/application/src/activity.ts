import type { RangeId, UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** A request that was a use of a range. */
export interface RangeUse {
  readonly at: Date
  readonly by: UserId
  /** As `GET /range`. */
  readonly request: string
  /** Of the scoped key that it came with. */
  readonly keyId?: string | undefined
}

/** Activity timestamps (`lastActive`), kept in memory and written in batches, so that a read request costs no write. */
export class Activity extends Context.Service<
  Activity,
  {
    readonly user: (id: UserId, at: Date) => void
    readonly range: (id: RangeId, use: RangeUse) => void
    /** The newest use of a range that this process knows of, written or not. */
    readonly lastOfRange: (id: RangeId) => RangeUse | undefined
    /** Sets why the last check for idle ranges left this one on although it was idle long enough; undefined clears it. */
    readonly keptOn: (id: RangeId, because: string | undefined) => void
    readonly keptOnBecause: (id: RangeId) => string | undefined
    /** Sets since when idle times count: the clock was set then, so nothing says how long ago earlier uses were. */
    readonly countIdleFrom: (at: Date) => void
    readonly idleCountsFrom: () => Date | undefined
    /** Writes what has gathered; also called at stop. */
    readonly flush: Effect.Effect<void>
  }
>()("rangewright/Activity") {}
