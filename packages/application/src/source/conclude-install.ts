import {
  type BlueprintId,
  type Conclusion,
  installationOf,
  type Requirements,
  type RunState,
  sayFailures,
} from "@rangewright/domain"
import { Blueprints, ContentFetcher, Sources } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { installOutcomes, plannedBlueprints } from "./install-outcomes.ts"
import type { Installation } from "./installation.ts"
import { failuresAmong, type ItemOutcome } from "./item-outcome.ts"

/** Who pins the snapshot while it is installed: the source may get other content meanwhile. */
export const holderOfInstall = ({ recordId }: Pick<Installation["source"], "recordId">): string => `install:${recordId}`

/**
 * Keeps how an installation ended: on the record of the source (contract C 6.8), and unless dependencies were left out on those of its
 * blueprints (contract C 12.5). May be repeated.
 */
export const concludeInstall = (installation: Installation, end: Conclusion, state: RunState, noDeps: boolean) =>
  Effect.gen(function* () {
    const { source } = installation
    const outcomes = installOutcomes(state)
    const failures = sayFailures(failuresAmong(outcomes))
    if (!noDeps) yield* tellBlueprints(installation, state, outcomes)
    yield* (yield* Sources).setOutcome(
      source.recordId,
      // a plan that could not be made has no items
      state.plan === undefined
        ? { status: "error", error: end.message }
        : { status: failures === "" ? "ok" : "partial", error: failures },
    )
    const content = yield* ContentFetcher
    const holder = holderOfInstall(source)
    for (const snapshot of yield* content.pinned(holder)) yield* content.release(snapshot, holder)
  })

const tellBlueprints = ({ content }: Installation, state: RunState, outcomes: readonly ItemOutcome[]) =>
  Effect.gen(function* () {
    const failed = new Set(outcomes.flatMap(({ kind, name, ok }) => (kind === "blueprint" && !ok ? [name] : [])))
    const shipped = new Map(content.content.blueprints.map((blueprint) => [blueprint.id, blueprint]))
    const at = new Date(yield* Clock.currentTimeMillis)
    const rows = yield* Blueprints
    for (const { id, publicId } of plannedBlueprints(state)) {
      const requirements = shipped.get(id)?.requirements
      if (requirements === undefined || failed.has(publicId)) continue
      const own = failuresAmong(outcomes.filter((outcome) => concerns(requirements, outcome)))
      const lines = own.map((failure) => sayFailures([failure]))
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
