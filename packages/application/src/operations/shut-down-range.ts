import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { changePower, ShutdownBody } from "../range/change-power.ts"
import { TextResult } from "../wire/common.ts"
import { hypervisorAway } from "../wire/statuses.ts"

export const shutDownRange = operation({
  id: "shutDownRange",
  origin: "ours",
  route: "PUT /range/shutdown",
  group: "Power",
  does: "shut machines down",
  summary: "Ask machines of the range, or all, to shut down, and wait for it; those that are off stay off",
  access: "range-access",
  target: "range",
  body: { type: "json", required: true, schema: ShutdownBody },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the named machines are off",
    400: "the body is malformed",
    409: "no machine was named; a machine is not in the range; a run is changing the range",
    500: "a machine did not shut down in time, and is still on",
    502: hypervisorAway,
  },
  handle: ({ range, body, user }) => Effect.map(changePower(range, body, "shutdown", user.id), (result) => ({ result })),
})
