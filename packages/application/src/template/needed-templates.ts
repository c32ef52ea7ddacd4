import { isFinishedTemplate, type NeededTemplate, unbuilt, type User } from "@rangewright/domain"
import { Machines, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { listTemplates } from "./list-templates.ts"

/**
 * Returns a function for the state of a needed template for this user, from the last observation: makes no call to the hypervisor.
 * `missing`: this user has no files to build it from.
 */
export const neededTemplates = Effect.fnUntraced(function* (user: User) {
  const machines = yield* Machines
  const ranges = yield* Ranges
  // a template in the pool of a range is only that range's
  const pools = new Set<string | undefined>((yield* ranges.list()).map(({ id }) => id))
  const built = new Set(
    (yield* machines.templates).flatMap((machine) =>
      isFinishedTemplate(machine) && !pools.has(machine.pool) ? [machine.name] : [],
    ),
  )
  const states = unbuilt(yield* Effect.orElseSucceed(listTemplates(user), () => []))
  return (name: string): NeededTemplate => ({
    name,
    built: built.has(name),
    status: states.get(name) ?? (built.has(name) ? "built" : "missing"),
  })
})
