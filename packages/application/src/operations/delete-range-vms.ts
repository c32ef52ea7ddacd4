import { Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { runToEnd } from "../range/run-to-end.ts"
import { TextResult } from "../wire/common.ts"
import { hypervisorAway } from "../wire/statuses.ts"

export const deleteRangeVms = operation({
  id: "deleteRangeVMs",
  route: "DELETE /range/{rangeID}/vms",
  group: "Range",
  does: "delete the machines of a range",
  summary: "Stop and delete all machines of a range; the range stays",
  access: "range-access",
  target: "range-in-path",
  path: { rangeID: Schema.String },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "all machines are gone",
    409: "a run is changing the range",
    500: "a machine could not be deleted",
    502: hypervisorAway,
  },
  handle: ({ range, user }) =>
    Effect.gen(function* () {
      const machines = yield* Machines
      yield* runToEnd(`delete the VMs of range ${range.id}`, range, { kind: "destroy" }, user.id)
      const left = (yield* machines.ofRange(range.id)).filter(({ template }) => !template)
      if (left.length === 0) return { result: `All VMs of range ${range.id} deleted` }
      const names = left.map(({ name, vmid }) => `${name ?? "unnamed"} (${vmid})`).join(", ")
      return { result: `VMs of range ${range.id} deleted, except ${names}: they do not carry our mark and were not changed` }
    }),
})
