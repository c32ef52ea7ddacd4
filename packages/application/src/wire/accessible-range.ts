import * as Schema from "effect/Schema"

/** A range that a user has, and how. */
export const AccessibleRange = Schema.Struct({
  rangeNumber: Schema.Int,
  rangeID: Schema.String,
  accessType: Schema.Literals(["Direct", "Group"]),
})
