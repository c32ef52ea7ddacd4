import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { changeTesting, testingStart, warningsOf } from "../range/change-testing.ts"
import { hypervisorAway } from "../wire/statuses.ts"
import { TestingResult } from "../wire/testing.ts"

export const startTesting = operation({
  id: "startTesting",
  route: "PUT /testing/start",
  group: "Testing",
  does: "start testing",
  summary: "Take snapshots of the range's machines, then isolate the range from the internet",
  access: "range-access",
  target: "range",
  output: { type: "json", schema: TestingResult },
  statuses: {
    200: "the snapshots are taken, and the range is isolated",
    409: "testing is on already, or stopping it did not finish; a run is changing the range; it has not been deployed; a machine cannot be read or cannot have a snapshot: every reason is listed",
    500: "a snapshot or a rule failed: the text says which; in the testing state entering the router may still be open",
    502: hypervisorAway,
  },
  handle: ({ range, user }) =>
    Effect.gen(function* () {
      const doing = `start testing of range ${range.id}`
      const { state, runId } = yield* changeTesting(doing, range, yield* testingStart, "on", user.id)
      return {
        result: `Testing started: range ${range.id} is isolated from the internet`,
        ...warningsOf(state),
        runID: runId,
      }
    }),
})
