import { roleVariables } from "./stage-inputs.ts"
import type { Json } from "./action.ts"
import { type Described, domainPlaces } from "./stage-context.ts"
import { renderName } from "../range/config/index.ts"

/**
 * The facts that every machine with roles gets before the first role of a range runs, by machine name, the router first: the input of a
 * role without the role itself.
 */
export const roleFacts = (described: Described): ReadonlyMap<string, Json> => {
  const { config, range } = described
  const context = { input: described, placeOf: domainPlaces(described) }
  const nameOf = (name: string): string => renderName(name, { rangeId: range.id })
  const { router } = config
  return new Map([
    ...(router.roles.length === 0 ? [] : [[nameOf(router.name), roleVariables(context, undefined)] as const]),
    ...config.machines.flatMap((machine) =>
      machine.roles.length === 0 ? [] : [[nameOf(machine.name), roleVariables(context, machine)] as const],
    ),
  ])
}
