import { type BlueprintId, type InstallPlan, installationOf, type Requirements, sayFailures } from "@rangewright/domain"
import { Blueprints, Sources, type StorageFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Installation } from "./installation.ts"
import { failuresAmong, type ItemOutcome } from "./item-outcome.ts"

/**
 * All outcomes of an installation, with those of requirements that the source itself met; and how it ended, on the records of the
 * source (contract C 6.8) and of the blueprints, whose dependencies were installed unless they were left out (contract C 12.5).
 */
export const concludeInstall = (
  { source }: Pick<Installation, "source">,
  plan: InstallPlan,
  performed: readonly ItemOutcome[],
  noDeps: boolean,
): Effect.Effect<readonly ItemOutcome[], StorageFault, Blueprints | Sources> =>
  Effect.gen(function* () {
    const outcomes = [...performed, ...metBySource(plan, performed)]
    const failures = failuresAmong(outcomes)
    if (!noDeps) yield* tellBlueprints(plan, outcomes)
    yield* (yield* Sources).setOutcome(source.recordId, {
      status: failures.length === 0 ? "ok" : "partial",
      error: sayFailures(failures),
    })
    return outcomes
  })

/** A requirement for a role that the source ships is met by the role (contract C 6.6). */
const metBySource = ({ vendoredRoles }: InstallPlan, performed: readonly ItemOutcome[]): readonly ItemOutcome[] => {
  const there = new Set(performed.flatMap(({ kind, name, ok }) => (kind === "local_role" && ok ? [name] : [])))
  return vendoredRoles.flatMap(({ name, version }) =>
    there.has(name) ? [{ kind: "role", name, ...(version === undefined ? {} : { version }), ok: true } as const] : [],
  )
}

const tellBlueprints = ({ blueprints }: InstallPlan, outcomes: readonly ItemOutcome[]) =>
  Effect.gen(function* () {
    const failed = new Set(outcomes.filter(({ kind, ok }) => !ok && kind === "blueprint").map(({ name }) => name))
    const at = new Date(yield* Clock.currentTimeMillis)
    const rows = yield* Blueprints
    for (const { publicId, blueprint } of blueprints) {
      if (failed.has(publicId)) continue
      const own = outcomes.filter((outcome) => concerns(blueprint.requirements, outcome))
      const lines = failuresAmong(own).map((failure) => sayFailures([failure]))
      yield* rows.setInstallation(publicId as BlueprintId, installationOf(lines, at))
    }
  })

/** Whether the outcome is of something that these requirements name, or of no item in particular where they could be meant. */
const concerns = ({ roles, collections, subscriptionRoles }: Requirements, { kind, name }: ItemOutcome): boolean => {
  switch (kind) {
    case "role":
      return roles.some((role) => (role.name ?? role.src) === name) || (name === "" && roles.length > 0)
    case "collection":
      return collections.some((collection) => collection.name === name) || (name === "" && collections.length > 0)
    case "subscription_role":
      return subscriptionRoles.includes(name) || (name === "" && subscriptionRoles.length > 0)
    case "blueprint":
    case "template":
    case "local_role":
    case "local_collection":
      return false
  }
}
