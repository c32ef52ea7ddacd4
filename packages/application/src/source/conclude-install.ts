import {
  type BlueprintId,
  type Conclusion,
  installationOf,
  type RecordId,
  type Requirements,
  type RunState,
  sayFailures,
  type SourceContent,
} from "@rangewright/domain"
import { Blueprints, ContentFetcher, Sources, type StorageFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { installOutcomes, plannedBlueprints } from "./install-outcomes.ts"
import { failuresAmong, type ItemOutcome } from "./item-outcome.ts"

/** Holder that pins the snapshot while it is installed: the source may get other content meanwhile. */
export const holderOfInstall = (source: RecordId): string => `install:${source}`

/** Releases the snapshot after an installation from the source. A failure to release only costs space. */
export const releaseInstalled = (source: RecordId): Effect.Effect<void, never, ContentFetcher> =>
  Effect.gen(function* () {
    const content = yield* ContentFetcher
    const holder = holderOfInstall(source)
    for (const snapshot of yield* content.pinned(holder)) yield* content.release(snapshot, holder)
  }).pipe(Effect.ignore({ log: "Warn" }))

/** Stores on the source's record how an installation ended. May be repeated. */
export const concludeInstall = (source: RecordId, end: Conclusion, state: RunState): Effect.Effect<void, StorageFault, Sources> =>
  Effect.flatMap(Sources, (sources) => {
    // without a plan there are no items
    if (state.plan === undefined) return sources.setOutcome(source, { status: "error", error: end.message })
    const failures = sayFailures(failuresAmong(installOutcomes(state)))
    return sources.setOutcome(source, { status: failures === "" ? "ok" : "partial", error: failures })
  })

/** Stores on the installed blueprints how the installation of their requirements ended. May be repeated. */
export const tellBlueprints = (content: SourceContent, state: RunState): Effect.Effect<void, StorageFault, Blueprints> =>
  Effect.gen(function* () {
    const outcomes = installOutcomes(state)
    const failed = new Set(outcomes.flatMap(({ kind, name, ok }) => (kind === "blueprint" && !ok ? [name] : [])))
    const shipped = new Map(content.blueprints.map((blueprint) => [blueprint.id, blueprint]))
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

/** Whether the outcome is about something that these requirements name, or about no particular item of a kind that they contain. */
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
