import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { changePower, ShutdownBody } from "../range/change-power.ts"
import { TextResult } from "../wire/common.ts"
import { hypervisorAway } from "../wire/statuses.ts"

export const rebootRange = operation({
  id: "rebootRange",
  origin: "ours",
  route: "PUT /range/reboot",
  group: "Power",
  does: "reboot machines",
  summary: "Ask machines of the range, or all, to shut down, and start them again",
  access: "range-access",
  target: "range",
  body: { type: "json", required: true, schema: ShutdownBody },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the named machines were shut down and started",
    400: "the body is malformed",
    409: "no machine was named; a machine is not in the range; a named machine is off; a run is changing the range",
    500: "a machine did not shut down in time, and is still on; one could not be started again",
    502: hypervisorAway,
  },
  handle: ({ range, body, user }) => Effect.map(changePower(range, body, "reboot", user.id), (result) => ({ result })),
})
