import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { changePower, PowerBody } from "../range/change-power.ts"
import { TextResult } from "../wire/common.ts"
import { hypervisorAway } from "../wire/statuses.ts"

export const powerOffRange = operation({
  id: "powerOffRange",
  route: "PUT /range/poweroff",
  group: "Power",
  does: "power machines off",
  summary: "Stop machines of the range, or all, at once",
  access: "range-access",
  target: "range",
  body: { type: "json", required: true, schema: PowerBody },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the named machines are off",
    400: "the body is malformed",
    409: "no machine was named; a machine is not in the range; a run is changing the range",
    500: "a machine could not be switched",
    502: hypervisorAway,
  },
  handle: ({ range, body, user }) => Effect.map(changePower(range, body, "off", user.id), (result) => ({ result })),
})
