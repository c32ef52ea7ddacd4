import { Forbidden, isVmid, NotFound, howTo } from "@rangewright/domain"
import { Machines, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { requireRangeAccess } from "../access/select-range.ts"
import { operation } from "../operation/operation.ts"
import { runToEnd } from "../range/run-to-end.ts"
import { TextResult } from "../wire/common.ts"
import { WholeNumberText } from "../wire/parameters.ts"
import { hypervisorAway } from "../wire/statuses.ts"

/** Only machines of ranges: templates and what is not ours are not found (contract A 17-3 and 17-4). */
export const destroyVm = operation({
  id: "destroyVM",
  route: "DELETE /vm/{vmID}",
  group: "VM",
  does: "delete a machine",
  summary: "Stop and delete one machine of a range",
  access: "range-access",
  accessNote: "of the range that holds the machine",
  target: "none",
  path: { vmID: WholeNumberText },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the machine is gone",
    400: "the ID is no number; userID names an unknown user",
    403: "the caller may not use its range",
    404: "no range has this machine",
    409: "a run is changing the range",
    500: "the machine could not be deleted",
    502: hypervisorAway,
  },
  handle: ({ path, user }) =>
    Effect.gen(function* () {
      const machine = isVmid(path.vmID) ? yield* (yield* Machines).find(path.vmID) : undefined
      const range = machine === undefined || machine.template ? undefined : yield* (yield* Ranges).find(machine.rangeId)
      if (machine === undefined || range === undefined)
        return yield* Effect.fail(
          new NotFound({ what: `VM ${path.vmID} not found in any range`, hint: `List them: ${howTo("GET /range")}.` }),
        )
      // whose it is, is not for those to know who may not use it
      const forbidden = new Forbidden({
        reason: `${user.id} may not use VM ${path.vmID}`,
        hint: `List those of a range: ${howTo("GET /range")}.`,
      })
      yield* requireRangeAccess(range, user, "range-access").pipe(Effect.catchTag("Forbidden", () => Effect.fail(forbidden)))
      const name = machine.name ?? "without name"
      yield* runToEnd(`destroy VM ${machine.vmid} (${name})`, range, { kind: "destroy-vm", vmid: machine.vmid }, user.id)
      return { result: `VM ${machine.vmid} (${name}) of range ${range.id} destroyed` }
    }),
})
