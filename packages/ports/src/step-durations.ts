import type { Durations, UserId } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { StorageFault } from "./faults.ts"

/** Most names kept of everybody's work. */
export const mostDurations = 1000
/** Most names kept of the work that is a user's own. */
export const mostOwnDurations = 200

/** How long the work of runs took on this installation, by name (`Step.timedAs`): one smoothed value per name, no history. */
export class StepDurations extends Context.Service<
  StepDurations,
  {
    /** What is known of everybody's work, and of the work that is this user's own (`isOwnWork`). */
    readonly known: (userId: UserId) => Effect.Effect<Durations, StorageFault>
    /**
     * Adds what one run of this user taught: seconds by name, each merged with what is known (`learnedFrom`). Beyond the limits, the
     * names that were updated longest ago are dropped. What is the user's own is removed with the user, and is not stored for a user who does
     * not exist.
     */
    readonly learn: (userId: UserId, lessons: ReadonlyMap<string, number>) => Effect.Effect<void, StorageFault>
  }
>()("rangewright/StepDurations") {}
