import { type KnownTemplate, knownTemplates, type User } from "@rangewright/domain"
import { Machines, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { hostFailures, listInstalled } from "../ansible/installed.ts"
import { runningBuilds } from "./running-builds.ts"

/** Pools of the ranges that the user may not use. */
const closedPoolsFor = Effect.fnUntraced(function* (user: User) {
  if (user.isAdmin) return new Set<string>()
  const ranges = yield* Ranges
  const open = new Set((yield* ranges.grantsOf(user.id)).map(({ rangeId }) => rangeId))
  return new Set<string>((yield* ranges.list()).flatMap(({ id }) => (open.has(id) ? [] : [id])))
})

/** The templates that a user sees, from the last observation: makes no call to the hypervisor. */
export const listTemplates = Effect.fnUntraced(function* (user: User) {
  const machines = yield* Machines
  const { own, global } = yield* hostFailures(listInstalled(user))
  const known: readonly KnownTemplate[] = knownTemplates({
    machines: yield* machines.templates,
    closedPools: yield* closedPoolsFor(user),
    installed: [...own.templates, ...global.templates],
    building: new Set((yield* runningBuilds).map(({ template }) => template)),
  })
  return known
})
