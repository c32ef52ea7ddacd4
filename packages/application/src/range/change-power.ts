import { Conflict, type Fault, type Range, type UserId, howTo } from "@rangewright/domain"
import { Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { RunEngine } from "@rangewright/run-engine"
import { namedMachines } from "./machine-names.ts"
import { runToEnd } from "./run-to-end.ts"

/** Names, VMIDs (also as text), or `all` alone. */
export const PowerBody = Schema.Struct({
  machines: Schema.optionalKey(Schema.Array(Schema.Union([Schema.String, Schema.Int]))),
})

/**
 * Switches machines of a range and waits for it; those that are so already stay as they are. Off is a hard stop. Nothing is switched when
 * a name means no machine of this range. Returns the text of the answer.
 */
export const changePower = (
  range: Range,
  wanted: readonly (string | number)[] | undefined,
  on: boolean,
  by: UserId,
): Effect.Effect<string, Fault, Machines | RunEngine> =>
  Effect.gen(function* () {
    const doing = `power ${on ? "on" : "off"} machines of range ${range.id}`
    if (wanted === undefined || wanted.length === 0)
      return yield* Effect.fail(new Conflict({ what: `Cannot ${doing}: none was named`, hint: 'Name machines, or ["all"].' }))
    const named = namedMachines(wanted, yield* (yield* Machines).ofRange(range.id))
    if (!named.known)
      return yield* Effect.fail(
        new Conflict({
          what: `Cannot ${doing}: ${named.unknown.join(", ").slice(0, 500)} not found in it`,
          hint: `List its machines: ${howTo("GET /range")}.`,
        }),
      )
    const [first] = named.machines
    if (first === undefined) return `Range ${range.id} has no machines`
    yield* runToEnd(doing, range, { kind: "power", on, vmids: named.machines.map(({ vmid }) => vmid) }, by)
    const what = named.machines.length === 1 ? (first.name ?? `VM ${first.vmid}`) : `${named.machines.length} machines`
    return `${what} of range ${range.id} powered ${on ? "on" : "off"}`
  })
