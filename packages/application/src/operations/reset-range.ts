import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { changePower, PowerBody } from "../range/change-power.ts"
import { TextResult } from "../wire/common.ts"
import { hypervisorAway } from "../wire/statuses.ts"

export const resetRange = operation({
  id: "resetRange",
  origin: "ours",
  route: "PUT /range/reset",
  group: "Power",
  does: "reset machines",
  summary: "Stop machines of the range, or all, at once, and start them again",
  access: "range-access",
  target: "range",
  body: { type: "json", required: true, schema: PowerBody },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the named machines were stopped and started",
    400: "the body is malformed",
    409: "no machine was named; a machine is not in the range; a named machine is off; a run is changing the range",
    500: "a machine could not be stopped or started again",
    502: hypervisorAway,
  },
  handle: ({ range, body, user }) => Effect.map(changePower(range, body, "reset", user.id), (result) => ({ result })),
})
