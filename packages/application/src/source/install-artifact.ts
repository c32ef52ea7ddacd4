import { type PlannedArtifact, shippedItemKinds } from "@rangewright/domain"
import { ArtifactLibrary, type ContentFetcher, type Sources, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { toldOf } from "../template/told.ts"
import { claimItems } from "./claim-items.ts"
import { type ArtifactInstallation, scopeFor } from "./installation.ts"
import { type ItemOutcome, itemFailed } from "./item-outcome.ts"
import { snapshotEntries } from "./snapshot-entries.ts"

const claimKinds = { template: "template", role: "local-role", collection: "local-collection" } as const
const differs = "something else with this name exists and stays; use force to replace it"

/**
 * Installs one item of a plan, and records that the source brought it. May be repeated. `force` replaces what differs; without it an
 * existing item stays, which is not a failure. A failure concerns this item only.
 */
export const installArtifact = (
  installation: ArtifactInstallation,
  { kind, name, version, description, directory, change, because }: PlannedArtifact,
  force: boolean,
): Effect.Effect<ItemOutcome, StorageFault, ArtifactLibrary | ContentFetcher | Sources> =>
  Effect.gen(function* () {
    const library = yield* ArtifactLibrary
    const item = shippedItemKinds[kind]
    if (change === "refuse") return itemFailed(item, name, because ?? "it cannot be installed")
    const scope = scopeFor(kind, installation)
    const entries = yield* snapshotEntries(installation.content.snapshot, directory)
    const shipped = installation.content.content.templates.find((template) => kind === "template" && template.name === name)
    const template = shipped && (yield* toldOf(shipped, shipped.icon?.slice(directory.length + 1), entries))
    const placement = yield* library.place({ scope, kind, name }, entries, {
      ...(version === undefined ? {} : { version }),
      ...(description === undefined ? {} : { description }),
      ...(template === undefined ? {} : { template }),
      replace: force,
    })
    // Several sources may claim one thing; when another copy stays in its place, its version is not known.
    const claimed = placement === "differs" ? "" : (version ?? "")
    yield* claimItems(installation.source.recordId, [{ kind: claimKinds[kind], name, version: claimed, scope }])
    return { kind: item, name, ...(version ? { version } : {}), ok: true, ...(placement === "differs" ? { text: differs } : {}) }
  }).pipe(
    Effect.catchTags({
      LibraryFault: (fault) => Effect.succeed(itemFailed(shippedItemKinds[kind], name, fault.message)),
      ContentFault: (fault) => Effect.succeed(itemFailed(shippedItemKinds[kind], name, fault.message)),
    }),
  )
