import { InvalidInput } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { startRun } from "../range/run-to-end.ts"
import { hypervisorAway } from "../wire/statuses.ts"
import { TestingResult } from "../wire/testing.ts"

export const update = operation({
  id: "update",
  route: "POST /testing/update",
  group: "Testing",
  does: "update Windows on machines",
  summary: "Install the Windows updates on machines of the range",
  access: "range-access",
  target: "range",
  body: { type: "json", required: true, schema: Schema.Struct({ name: Schema.String }) },
  output: { type: "json", schema: TestingResult },
  statuses: {
    200: "the run that updates the machines was started; GET /runs/{id} shows how it ended",
    400: "no machine is named; the body is malformed or wrongly typed",
    409: "testing is on; a run is changing the range; it has not been deployed; the name matches no Windows machine",
    502: hypervisorAway,
  },
  handle: ({ range, body, user }) =>
    Effect.gen(function* () {
      const doing = `update machines of range ${range.id}`
      const machines = body.name.trim()
      if (machines === "")
        return yield* new InvalidInput({
          what: `Cannot ${doing}: none is named`,
          issues: [{ path: "name", message: "name a machine or a group of machines" }],
        })
      const { id } = yield* startRun(doing, range, { kind: "testing-update", machines }, user.id)
      return { result: `Update of ${machines} in range ${range.id} started as run ${id}`, runID: id }
    }),
})
