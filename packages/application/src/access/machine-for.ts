import { Forbidden, howTo, isVmid, NotFound, type Range, type User, type Vmid } from "@rangewright/domain"
import { Machines, type RangeMachine, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { requireRangeAccess } from "./select-range.ts"

/** A machine of a range that the user may use. Templates and VMs outside of ranges are not found. */
export const machineFor = (user: User, vmid: number) =>
  Effect.gen(function* () {
    const machines = yield* Machines
    const ranges = yield* Ranges
    const machine = isVmid(vmid) ? yield* machines.find(vmid as Vmid) : undefined
    const range = machine === undefined || machine.template ? undefined : yield* ranges.find(machine.rangeId)
    if (machine === undefined || range === undefined)
      return yield* new NotFound({ what: `VM ${vmid} not found in any range`, hint: `List them: ${howTo("GET /range")}.` })
    // does not tell a user without access whose machine it is
    const forbidden = new Forbidden({
      reason: `${user.id} may not use VM ${vmid}`,
      hint: `List those of a range: ${howTo("GET /range")}.`,
    })
    yield* requireRangeAccess(range, user, "range-access").pipe(Effect.catchTag("Forbidden", () => Effect.fail(forbidden)))
    return { machine, range } satisfies { readonly machine: RangeMachine; readonly range: Range }
  })
