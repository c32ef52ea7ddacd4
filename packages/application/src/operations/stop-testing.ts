import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { changeTesting, leftUndone, testingStop, warningsOf } from "../range/change-testing.ts"
import { hypervisorAway } from "../wire/statuses.ts"
import { TestingResult } from "../wire/testing.ts"

export const stopTesting = operation({
  id: "stopTesting",
  route: "PUT /testing/stop",
  group: "Testing",
  does: "stop testing",
  summary: "Roll the range's machines back, then open the range again",
  access: "range-access",
  target: "range",
  body: { type: "json", required: false, schema: Schema.Struct({ force: Schema.optionalKey(Schema.Boolean) }) },
  output: { type: "json", schema: TestingResult },
  statuses: {
    200: "the machines are rolled back, and the range is open; with force, warnings name the machines that are not",
    400: "the body is malformed or wrongly typed",
    409: "testing is not on; a run is changing the range; a machine cannot be read or rolled back, and force is not set: every reason is listed",
    500: "a machine could not be rolled back, or a rule failed: the text says whether the router was opened",
    502: hypervisorAway,
  },
  handle: ({ range, body, user }) =>
    Effect.gen(function* () {
      const force = body?.force ?? false
      const doing = `stop testing of range ${range.id}`
      const request = yield* testingStop(doing, range, force)
      const { state, runId } = yield* changeTesting(doing, range, request, "off", user.id)
      const rolledBack = leftUndone(state).length === 0 ? "" : ", and not all of its machines are rolled back"
      return {
        result: `Testing stopped: range ${range.id} is open${rolledBack}`,
        ...warningsOf(state),
        runID: runId,
      }
    }),
})
