import type { Step } from "@rangewright/domain"
import { work } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { waitForRangeRuns } from "./installation-gate.ts"

/** Ends when no range is being changed: what a run about the installation begins with. */
export const restWork = work({
  name: "ranges-at-rest",
  input: Schema.Struct({}),
  settle: () => Effect.as(waitForRangeRuns, {}),
})

export const restKey = "ranges-at-rest"

export const restStep: Step = restWork.step({ key: restKey, title: "Wait until no range is being changed", estimate: 1 }, {})
