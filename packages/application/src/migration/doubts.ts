import { type InstallationMachine, labelOf } from "@rangewright/domain"
import { Machines, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { blindness, confirmAbsence } from "../absence/confirm-absence.ts"

/**
 * Why the list of machines is not trusted, for people; empty when it is. A network is abandoned only when all machines that use it are
 * known.
 */
export const doubtsAbout = Effect.fnUntraced(function* (listed: readonly InstallationMachine[]) {
  const ranges = yield* Ranges
  const blind = yield* blindness
  if (blind !== undefined) return [blind]
  const machines = yield* Machines
  const kept = yield* Effect.forEach(yield* ranges.list(), ({ id }) => machines.ofRange(id))
  const seen = new Set(listed.map(({ vmid }) => vmid))
  const lost = kept.flat().filter(({ vmid }) => !seen.has(vmid))
  const found = yield* confirmAbsence(lost)
  return lost.flatMap((machine) => {
    const sought = found.get(machine.vmid)
    if (sought === undefined || sought.type === "absent") return []
    const why = sought.type === "there" ? `it is on node ${sought.node}` : sought.why
    return [`the list of machines lacks ${labelOf(machine)}: ${why}`]
  })
})
