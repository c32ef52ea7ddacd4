import type { Step } from "@rangewright/domain"
import { work } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { waitForRangeRuns } from "./installation-gate.ts"

/** Settles when no range is being changed: the first step of a run of the installation. */
export const restWork = work({
  name: "ranges-at-rest",
  input: Schema.Struct({}),
  settle: () => Effect.as(waitForRangeRuns, {}),
})

export const restKey = "ranges-at-rest"

export const restStep: Step = restWork.step({ key: restKey, title: "Wait until no range is being changed", estimate: 1 }, {})
