import * as Effect from "effect/Effect"
import { machineFor } from "../access/machine-for.ts"
import { operation } from "../operation/operation.ts"
import { runToEnd } from "../range/run-to-end.ts"
import { TextResult } from "../wire/common.ts"
import { WholeNumberText } from "../wire/parameters.ts"
import { hypervisorAway } from "../wire/statuses.ts"

/** Only machines of ranges: templates and foreign VMs are not found. */
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
    400: "the ID is not a number",
    403: "the caller may not use its range",
    404: "no range has this machine",
    409: "a run is changing the range",
    500: "the machine could not be deleted",
    502: hypervisorAway,
  },
  handle: ({ path, user }) =>
    Effect.gen(function* () {
      const { machine, range } = yield* machineFor(user, path.vmID)
      const name = machine.name ?? "without name"
      yield* runToEnd(`destroy VM ${machine.vmid} (${name})`, range, { kind: "destroy-vm", vmid: machine.vmid }, user.id)
      return { result: `VM ${machine.vmid} (${name}) of range ${range.id} destroyed` }
    }),
})
