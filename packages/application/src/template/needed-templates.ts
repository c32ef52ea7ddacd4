import { isFinishedTemplate, type NeededTemplate, unbuilt, type User } from "@rangewright/domain"
import { Machines, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { listTemplates } from "./list-templates.ts"

/**
 * Tells of each template that somebody needs how it is with it for this user, as the hypervisor was last observed: it is not asked. `missing`: this
 * user has no files that it could be built from.
 */
export const neededTemplates = Effect.fnUntraced(function* (user: User) {
  const machines = yield* Machines
  const ranges = yield* Ranges
  // what users of a range call a template there is nobody else's
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
